import type { ApolloServer } from '@apollo/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type DocumentNode,
  type ExecutionArgs,
  execute as executeEvent,
  type GraphQLSchema,
  getOperationAST,
  parse,
} from 'graphql';
import type { AnyContext, Context } from '../../context.js';
import { AppError, toAppError, toGraphQLError } from '../../errors.js';
import { malformedGraphQL } from '../../graphql/errors/coded-errors.js';
import type { Gate } from '../../graphql/gate/gate.js';
import type { OpeningStream } from '../../graphql/subscriptions.js';
import { logFailure } from '../../log.js';
import { chooseType } from '../content-negotiation.js';
import { execute, refusal, sendRefusal, UNSPECIFIED_TYPE } from '../graphql.js';
import { isForeignGet, readParameters } from '../graphql-parameters.js';
import { type EventStream, mountEventStreams, type Streaming, sendStream, streamContext } from './event-streams.js';
import { frameText } from './frames.js';

interface Mounting extends Streaming {
  readonly apollo: ApolloServer<AnyContext>;
  readonly gate: Gate;
  readonly schema: GraphQLSchema;
}

/** Mounts everything that answers with server-sent events. */
export function mountStreams(app: FastifyInstance, streams: readonly EventStream[], mounting: Mounting): void {
  mountEventStreams(app, streams, mounting);
  mountGraphQLStream(app, mounting);
}

/**
 * `/graphql/stream`: subscriptions as server-sent events, each on a connection of its own. A document passes everything that one at
 * `/graphql` passes; what is wrong with it is the response, with its status.
 *
 * Not the handler of `graphql-sse`: it reads its source as fast as that gives, and keeps in memory what a client does not read.
 *
 * Source: GraphQL over Server-Sent Events, "Distinct connections mode".
 */
function mountGraphQLStream(app: FastifyInstance, mounting: Mounting): void {
  const { contextFor, rateLimits } = mounting;
  const contexts = new WeakMap<FastifyRequest, AnyContext>();
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql/stream',
    exposeHeadRoute: false,
    config: { isStream: true, takesDocuments: true },
    onRequest: async (request, reply) => {
      try {
        const ctx = await contextFor(request);
        rateLimits.takeUnknown(reply, ctx);
        contexts.set(request, ctx);
      } catch (thrown) {
        return sendRefusal(reply, UNSPECIFIED_TYPE, refusal(thrown, request, reply));
      }
    },
    handler: async (request, reply) => {
      try {
        const ctx = contexts.get(request) as AnyContext;
        const subscription = await admitted(mounting, request, ctx);
        const stream = mounting.openStreams.open(ctx as Context);
        let refused: Awaited<ReturnType<typeof execute>> | undefined;
        const begin = async (): Promise<AsyncIterator<string>> => {
          const opening: OpeningStream = { signal: stream.signal };
          const caller = { ...streamContext(ctx as Context), opening };
          refused = await execute(mounting.apollo, subscription.parameters, request, caller);
          if (refused.result.errors !== undefined) throw new AppError('GRAPHQL_INVALID');
          refused = undefined;
          return messagesOf(mounting, { ...subscription, ctx: caller, opening });
        };
        return await sendStream(reply, stream, begin).catch((thrown: unknown) => {
          if (refused === undefined) throw thrown;
          return sendRefusal(reply, UNSPECIFIED_TYPE, refused);
        });
      } catch (thrown) {
        return sendRefusal(reply, UNSPECIFIED_TYPE, refusal(thrown, request, reply));
      }
    },
  });
}

interface Subscription {
  readonly parameters: Parameters<typeof execute>[1];
  readonly document: DocumentNode;
}

/** The subscription that a request asks for. @throws what the gate refuses, MALFORMED_REQUEST for operations of other kinds */
async function admitted({ gate }: Mounting, request: FastifyRequest, ctx: AnyContext): Promise<Subscription> {
  if (chooseType(request.headers.accept, ['text/event-stream']) === null)
    throw new AppError('NOT_ACCEPTABLE', 'The response is an event stream. Accept text/event-stream.');
  if (isForeignGet(request)) throw malformedGraphQL();
  const parameters = await gate.admit(readParameters(request), ctx.actor !== null);
  const document = parsed(parameters.query);
  const operation = getOperationAST(document, parameters.operationName);
  if (operation != null && operation.operation !== 'subscription')
    throw new AppError('MALFORMED_REQUEST', 'Send queries and mutations to /graphql.');
  if (ctx.actor === null) throw new AppError('TOKEN_MISSING');
  return { parameters, document };
}

/** Without a document, Apollo Server says what is wrong with the text. */
function parsed(text: string): DocumentNode {
  try {
    return parse(text, { noLocation: true });
  } catch {
    return { kind: 'Document', definitions: [] } as unknown as DocumentNode;
  }
}

/** The messages of the protocol. A stream that has to end early ends without `complete`: the client then connects again. */
async function* messagesOf(
  { schema, log }: Mounting,
  { parameters, document, ctx, opening }: Subscription & { ctx: Context; opening: OpeningStream },
): AsyncGenerator<string> {
  const { source, signal } = opening;
  const run = (rootValue: unknown) =>
    executeEvent({
      ...{ schema, document, rootValue },
      contextValue: { ...ctx, loaders: new Map() },
      variableValues: parameters.variables as ExecutionArgs['variableValues'],
      operationName: parameters.operationName ?? null,
    });
  const reported = (errors: readonly unknown[]) =>
    errors.map((error) => {
      logFailure(log, toAppError(error), error, ctx.requestId);
      return toGraphQLError(error, ctx.requestId).toJSON();
    });
  try {
    while (source !== undefined) {
      const next = await source.next();
      if (next.done === true) break;
      const { data, errors } = await run(next.value);
      yield frameText({ event: 'next', data: errors === undefined ? { data } : { data, errors: reported(errors) } });
    }
  } catch (error) {
    yield frameText({ event: 'next', data: { errors: reported([error]) } });
  } finally {
    await source?.return?.();
  }
  // Some clients take only an event with data for one.
  if (!signal.aborted) yield 'event: complete\ndata:\n\n';
}
