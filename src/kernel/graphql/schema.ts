import 'reflect-metadata';
import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { PermissionDenied } from '../authz/ability.js';
import { recordDenial } from '../authz/denials.js';
import { type AnonymousContext, type AnyContext, authenticated, type Context } from '../context.js';
import { yieldToEventLoop } from '../event-loop.js';
import type { RequestWork } from '../load/request-work.js';
import { inArguments } from './errors/argument-errors.js';
import { withErrorReference } from './errors/coded-errors.js';
import { bindCursors } from './list-cursors.js';
import { nullOrDenied } from './nested-denials.js';
import { answerDirectly } from './operations.js';
import { guardSubscriptions } from './subscriptions.js';

type ResolverClass = new (...args: never[]) => object;
type RootField = GraphQLFieldResolver<unknown, Context | AnonymousContext>;

/** Mark of an input type of which exactly one field is given: `@Extensions(ONE_OF)`. type-graphql has no word for it. */
export const ONE_OF = { oneOf: true } as const;

/** type-graphql demands it for subscriptions, whatever their events come from. */
const NO_PUB_SUB = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error('subscriptions have sources of their own');
  },
};

const SHOWN_AS_FOUND = new WeakSet<object>();

/** Whether a field shows what the one above it has found: it neither reads nor fails. */
export const isShownAsFound = (field: object): boolean => SHOWN_AS_FOUND.has(field);

/**
 * Builds the one schema of the process.
 *
 * @param resolvers instances, as app.ts made them; the container is a look-up among them
 */
export function buildGraphQLSchema(resolvers: readonly object[]): GraphQLSchema {
  const byClass = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  const built = buildSchemaSync({
    resolvers: [...byClass.keys()] as [ResolverClass, ...ResolverClass[]],
    container: { get: (wanted: ResolverClass) => byClass.get(wanted) },
    // Rules are zod's, in the services: class-validator would check again and quote the caller's values.
    validate: false,
    // It asks the schema for all of itself. Apollo refuses a schema that is wrong.
    skipCheck: true,
    pubSub: NO_PUB_SUB,
  });
  const schema = withErrorReference(built);
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type))
      for (const field of Object.values(type.getFields())) if (field.resolve === undefined) SHOWN_AS_FOUND.add(field);
  const [query, mutation] = [schema.getQueryType(), schema.getMutationType()];
  const subscription = schema.getSubscriptionType();
  for (const root of [query, mutation]) if (root) answerDirectly(root, byClass);
  bindCursors(schema);
  if (subscription) guardSubscriptions(subscription);
  for (const root of [query, mutation]) if (root) guardRootFields(root, root === mutation);
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && ![query, mutation, subscription].includes(type)) guardNestedFields(type);
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && type !== subscription && !isIntrospectionType(type)) countObjects(type);
  // type-graphql has no word for these.
  if (query)
    query.description =
      'Queries read data. If a field fails, it is null and `errors` has the reason; the other fields are returned.';
  if (mutation)
    mutation.description =
      'Mutations change data. The mutations of one document run in order, each in its own transaction. If one fails, it is null and `errors` has the reason; the others still take effect.';
  if (subscription)
    subscription.description =
      'Subscriptions send events as they happen: POST /graphql/stream, with `Accept: text/event-stream` (GraphQL over SSE, distinct connections).';
  for (const type of Object.values(schema.getTypeMap()))
    if (isInputObjectType(type) && type.extensions.oneOf === true) type.isOneOf = true;
  return schema;
}

/** The schema as it is committed in `schema/schema.graphql`: sorted, so that a difference is a change. */
export const printSortedSchema = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;

/**
 * Every root field needs a caller unless it says that it is public, and a denial is recorded in the audit trail before it is reported.
 * Here, once for each operation, and not in a middleware, which would run for every field of every row.
 *
 * @param changes the fields run one after the other: each, and what is read below it, sees what those before it and itself have
 *   changed, and each does only what the caller may still do
 */
function guardRootFields(root: GraphQLObjectType, changes: boolean): void {
  for (const field of Object.values(root.getFields())) {
    const resolve = field.resolve as RootField;
    const isPublic = field.extensions.public === true;
    const guarded: RootField = async (source, args, ctx, info) => {
      if (isPublic) {
        // It is about credentials: what it answers is not stored.
        ctx.claim?.withholdResponse();
        if (ctx.actor !== null) changing.add(ctx);
        try {
          return await resolve(source, args, ctx, info);
        } catch (error) {
          throw inArguments(field, error);
        }
      }
      const caller = authenticated(ctx);
      if (changes) await beginChange(caller);
      try {
        return await resolve(source, args, caller, info);
      } catch (error) {
        if (error instanceof PermissionDenied) await recordDenial(caller, error);
        throw inArguments(field, error);
      } finally {
        if (changes) caller.loaders.clear();
      }
    };
    field.resolve = guarded as typeof field.resolve;
    // One that fails leaves the others of a document as they are: what they changed, and what they found.
    field.type = getNullableType(field.type);
  }
}

/** A nested field that the caller may not read is null and has an error; the rest of the response stands. */
function guardNestedFields(type: GraphQLObjectType): void {
  for (const field of Object.values(type.getFields())) {
    const { resolve } = field;
    if (resolve === undefined || isNonNullType(field.type)) continue;
    field.resolve = (source, args, ctx, info) => {
      try {
        const value = resolve(source, args, ctx, info);
        return value instanceof Promise ? value.catch((error) => nullOrDenied(ctx, info, error)) : value;
      } catch (error) {
        return nullOrDenied(ctx, info, error);
      }
    };
  }
}

/**
 * Counts the objects that fields bring into a response, and resolves none of them once the request has ended. Where there are many, other
 * requests run in between.
 */
function countObjects(type: GraphQLObjectType): void {
  for (const field of Object.values(type.getFields())) {
    if (!isCompositeType(getNamedType(field.type))) continue;
    const { resolve = defaultFieldResolver } = field;
    field.resolve = (source, args, ctx: AnyContext, info) => {
      const work = ctx.load?.work;
      if (work === undefined) return resolve(source, args, ctx, info);
      const run = (): unknown =>
        work.isStopped ? work.stopped() : countedBy(work, () => resolve(source, args, ctx, info));
      return work.begin()?.then(run) ?? run();
    };
  }
}

/** What a field resolves to, as soon as it is counted. */
function countedBy(work: RequestWork, resolve: () => unknown): unknown {
  let value: unknown;
  try {
    value = resolve();
  } catch (error) {
    work.settle();
    throw error;
  }
  if (!(value instanceof Promise)) return counted(work, value);
  return value.then(
    (found) => work.pause()?.then(() => counted(work, found)) ?? counted(work, found),
    (error) => {
      work.settle();
      // What was refused for the end is told once, and not by each field.
      if (work.isStopped) return work.stopped();
      throw error;
    },
  );
}

function counted(work: RequestWork, value: unknown): unknown {
  work.settle();
  if (work.isStopped) return work.stopped();
  const turn = work.count(Array.isArray(value) ? value.length : value == null ? 0 : 1);
  return turn === undefined ? value : turn.then(() => value);
}

/** Callers whose document has begun to change something, which may be the token that it came with. */
const changing = new WeakSet<Context>();

/** Before each change of a document. What came before it may have taken the caller's rights, or its token. @throws the TOKEN_* codes */
async function beginChange(caller: Context): Promise<void> {
  await yieldToEventLoop();
  caller.loaders.clear();
  if (changing.has(caller)) {
    caller.accessSnapshot?.invalidate();
    Object.assign(caller, await caller.renewed?.());
  }
  changing.add(caller);
}
