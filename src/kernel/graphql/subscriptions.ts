import { type GraphQLFieldResolver, type GraphQLObjectType, getNullableType } from 'graphql';
import { recordingDenials } from '../authz/denials.js';
import { type AnyContext, authenticated } from '../context.js';
import { AppError } from '../errors.js';
import { inArguments } from './errors/argument-errors.js';
import { SUBSCRIPTIONS_ELSEWHERE } from './errors/coded-errors.js';

/** A stream that a document asks for. */
export interface OpeningStream {
  /** Aborted when the client has gone, or has to go. */
  readonly signal: AbortSignal;
  /** Once the document has run: what its subscription sends. */
  source?: AsyncIterator<unknown>;
}

type RootField = GraphQLFieldResolver<unknown, AnyContext>;

/**
 * Makes subscriptions run as all other operations do, so that they are parsed, validated, limited, counted and refused in the same
 * way. Run without a root value, the field begins the stream and is null; run with one, it returns an event.
 */
export function guardSubscriptions(root: GraphQLObjectType): void {
  for (const field of Object.values(root.getFields())) {
    const [resolve, subscribe] = [field.resolve, field.subscribe] as [RootField, RootField];
    const guarded: RootField = async (source, args, ctx, info) => {
      if (source !== undefined) return resolve(source, args, ctx, info);
      const caller = authenticated(ctx);
      const { opening } = ctx;
      if (opening === undefined) throw new AppError('MALFORMED_REQUEST', SUBSCRIPTIONS_ELSEWHERE);
      try {
        const begin = async () => (await subscribe(source, args, caller, info)) as AsyncIterable<unknown>;
        const events = await recordingDenials(caller, begin);
        opening.source = events[Symbol.asyncIterator]();
        return null;
      } catch (error) {
        throw inArguments(field, error);
      }
    };
    field.resolve = guarded as typeof field.resolve;
    field.type = getNullableType(field.type);
  }
}
