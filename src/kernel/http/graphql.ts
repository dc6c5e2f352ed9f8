import { type ApolloServer, HeaderMap } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import type { AnyContext, Context } from '../context.js';
import { AppError, type ErrorCode, errorHeaders, toAppError, toGraphQLError } from '../errors.js';
import type { CacheableQueries, CacheableQuery } from '../graphql/cacheable-queries.js';
import { malformedGraphQL, SUBSCRIPTIONS_ELSEWHERE } from '../graphql/errors/coded-errors.js';
import type { Gate } from '../graphql/gate/gate.js';
import type { SchemaResponses } from '../graphql/introspection.js';
import { type Log, logFailure } from '../log.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import type { OperationMetrics } from '../operations/metrics/operation-metrics.js';
import { boundedJson } from '../operations/responses/response.js';
import type { ResponseCache } from '../operations/responses/response-cache.js';
import { noteOperation } from '../running.js';
import { addVary, type ChosenType, chooseType } from './content-negotiation.js';
import { noteError, translate } from './error-replies.js';
import { type GraphQLParameters, isForeignGet, readParameters } from './graphql-parameters.js';

/**
 * Makes the Context of a request, or the anonymous one when it carries no token or nobody asks for one.
 *
 * @throws the TOKEN_* codes
 */
export type ContextFor = (request: FastifyRequest, isAnonymous?: boolean) => Promise<AnyContext>;

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';
const ANSWERS = [JSON_TYPE, GRAPHQL_TYPE] as const;
type ResponseType = ChosenType<(typeof ANSWERS)[number]>;

/** Of whoever does not say what an answer should be. */
export const UNSPECIFIED_TYPE: ResponseType = { type: JSON_TYPE, isNamed: false };

/** What came of a request: the answer, with the status of its first error where there is no data. */
interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly result: FormattedExecutionResult;
  /** The result as JSON, where it is known. */
  readonly bytes?: Buffer;
}

interface Mounting {
  readonly apollo: ApolloServer<AnyContext>;
  readonly contextFor: ContextFor;
  readonly rateLimits: RateLimits;
  readonly gate: Gate;
  /** The page at the same address, for browsers. */
  readonly explorer: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  readonly schemaResponses: SchemaResponses;
  readonly cacheableQueries: CacheableQueries;
  readonly responseCache: ResponseCache;
  readonly operations: OperationMetrics;
  readonly log: Log;
}

/**
 * `POST /graphql`, and `GET /graphql` for queries, as GraphQL over HTTP has them. A token that does not hold is refused
 * before anything reads the text; a request without one reaches the schema and the fields that are public.
 */
export function mountGraphQL(app: FastifyInstance, mounting: Mounting): void {
  const { contextFor, rateLimits, explorer, schemaResponses } = mounting;
  const contexts = new WeakMap<FastifyRequest, AnyContext>();
  const describesSchema = new WeakSet<FastifyRequest>();
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    // Any other answer may hold values, in whatever field.
    config: { takesDocuments: true, isCompressible: (request: FastifyRequest) => describesSchema.has(request) },
    onRequest: async (request, reply) => {
      if (wantsPage(request)) return explorer(request, reply);
      try {
        const ctx = await contextFor(request);
        rateLimits.takeUnknown(reply, ctx);
        contexts.set(request, ctx);
      } catch (thrown) {
        return sendRefusal(reply, acceptedBy(request) ?? UNSPECIFIED_TYPE, refusal(thrown, request, reply));
      }
    },
    // What runs without a token needs no long body: whoever sends one has forgotten the token.
    errorHandler: (error, request, reply) => {
      const isLongWithoutToken = request.caller === null && translate(error).code === 'BODY_TOO_LARGE';
      if (!isLongWithoutToken) throw error;
      sendRefusal(
        reply,
        acceptedBy(request) ?? UNSPECIFIED_TYPE,
        refusal(new AppError('TOKEN_MISSING'), request, reply),
      );
    },
    handler: async (request, reply) => {
      const accepted = acceptedBy(request);
      try {
        if (accepted === null) throw notAcceptable(request);
        if (isForeignGet(request)) throw malformedGraphQL();
        const parameters = readParameters(request);
        const ctx = contexts.get(request) as AnyContext;
        const outcome = await run(mounting, parameters, { request, reply, ctx });
        const { data, extensions } = outcome.result;
        const described = data == null ? undefined : schemaResponses.bytesOf(data, extensions);
        if (described !== undefined) describesSchema.add(request);
        const bytes = outcome.bytes ?? described ?? (await boundedJson(shown(outcome), request.load));
        return send(reply, accepted, { ...outcome, status: statusFor(accepted, outcome) }, bytes);
      } catch (thrown) {
        return sendRefusal(reply, accepted ?? UNSPECIFIED_TYPE, refusal(thrown, request, reply));
      }
    },
  });
}

/** A browser's address bar, and nothing that a client of GraphQL sends. */
const wantsPage = ({ method, headers, query }: FastifyRequest): boolean =>
  method !== 'POST' &&
  ['query', 'documentId'].every((name) => !(name in (query as object))) &&
  chooseType(headers.accept, [...ANSWERS, 'text/html'])?.type === 'text/html';

const acceptedBy = ({ headers }: FastifyRequest): ResponseType | null => chooseType(headers.accept, ANSWERS);

/** Clients of GraphQL over SSE accept nothing but event streams, and often have one address for everything. */
const notAcceptable = ({ headers }: FastifyRequest): AppError =>
  new AppError(
    'NOT_ACCEPTABLE',
    chooseType(headers.accept, ['text/event-stream'])?.isNamed ? SUBSCRIPTIONS_ELSEWHERE : undefined,
  );

/** The one way from a request that is well-formed to its outcome. */
async function run(
  mounting: Mounting,
  parameters: GraphQLParameters,
  { request, reply, ctx }: { request: FastifyRequest; reply: FastifyReply; ctx: AnyContext },
): Promise<Outcome> {
  const { apollo, gate, cacheableQueries } = mounting;
  try {
    const admitted = await gate.admit(parameters, ctx.actor !== null);
    request.load.work.limitObjects(admitted.maxObjects);
    const make = (at: AnyContext): Promise<Outcome> => execute(apollo, admitted, request, at);
    // What is counted as a write for now is settled by Apollo Server's plugins.
    if (ctx.actor === null || ctx.counted?.bucket.limit === 'writes') return await make(ctx);
    const kept = cacheableQueries.find(admitted);
    return await (kept === null ? make(ctx) : keptOrMade(mounting, kept, { request, ctx, make }));
  } catch (thrown) {
    // Without a text it is none of GraphQL, and so not answered as GraphQL's.
    if (toAppError(thrown).code === 'MALFORMED_REQUEST') throw thrown;
    const cost = await gate.report(parameters, request.load.work.objects);
    return refusal(thrown, request, reply, cost === null ? undefined : { cost });
  }
}

/**
 * A kept response, with what Apollo Server's plugins do for one that is made. Rate limits have counted it when it arrived, and
 * queries take no idempotency key.
 */
async function keptOrMade(
  { responseCache, operations, log }: Pick<Mounting, 'responseCache' | 'operations' | 'log'>,
  kept: CacheableQuery,
  { request, ctx, make }: { request: FastifyRequest; ctx: Context; make: (ctx: Context) => Promise<Outcome> },
): Promise<Outcome> {
  const begun = performance.now();
  let making: Promise<Outcome> | undefined;
  const count = (code: ErrorCode | 'OK'): void => {
    operations.countField(kept.field, code);
    operations.timeField(kept.field, (performance.now() - begun) / 1_000);
  };
  const failed = (thrown: unknown): Outcome => {
    const error = toAppError(thrown);
    logFailure(log, error, thrown, request.id);
    count(error.code);
    const { data, at } = kept.failed;
    return {
      status: error.status,
      headers: errorHeaders(error),
      result: { data, errors: [toGraphQLError(error, request.id, at).toJSON()] },
    };
  };
  const { load } = request;
  const outcomeOf = async (running: Promise<ExecutionResult>): Promise<Outcome> => {
    noteOperation(kept.field);
    load.work.onStop(({ code }) => operations.countField(kept.field, code));
    const { data, errors } = await load.work.finish(running);
    if (errors?.[0] !== undefined) return failed(errors[0].originalError ?? errors[0]);
    count('OK');
    return { status: 200, headers: {}, result: { data: data ?? null } };
  };
  try {
    const { bytes } = await responseCache.answer(ctx, kept, async (at) => {
      const running = kept.run(at);
      making = running === null ? make(at) : outcomeOf(running);
      const { status, headers, result } = await making;
      const made = await boundedJson(shown({ result }), load);
      return { status, headers, bytes: made, hasErrors: result.errors !== undefined };
    });
    if (making !== undefined) return { ...(await making), bytes };
    load.hold(bytes);
    count('OK');
    return { status: 200, headers: {}, result: { data: {} }, bytes };
  } catch (thrown) {
    if (making !== undefined) throw thrown;
    return failed(thrown);
  }
}

/** Runs a document with all that Apollo Server does with it. */
export async function execute(
  apollo: ApolloServer<AnyContext>,
  { query, operationName, variables, extensions }: GraphQLParameters & { readonly query: string },
  { method, headers, load }: FastifyRequest,
  contextValue: AnyContext,
): Promise<Outcome> {
  const sent = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  const running = apollo.executeOperation(
    {
      query,
      operationName: operationName ?? undefined,
      variables: variables ?? undefined,
      extensions: extensions ?? undefined,
      // Apollo refuses mutations of a GET only; a HEAD is one whose answer nobody wants to see.
      http: {
        method: method === 'HEAD' ? 'GET' : method,
        headers: new HeaderMap(sent),
        search: '',
        body: undefined,
      },
    },
    { contextValue },
  );
  const { http, body } = await load.work.finish(running);
  if (body.kind !== 'single') throw new Error('incremental delivery is not supported');
  return { status: http.status ?? 200, headers: Object.fromEntries(http.headers), result: body.singleResult };
}

/** Of HTTP itself, of tokens and of the service: no document is at fault, and proxies and clients act on them. */
const isOfHttp = (status: number): boolean => [401, 405, 429].includes(status) || status >= 500;

/**
 * The status for a well-formed request. Whoever names `application/json` gets 200 whatever is wrong with the document;
 * with `application/graphql-response+json` a status of 2xx says that there is data, and what never ran is 400.
 *
 * Source: GraphQL over HTTP, 6.4.1 and 6.4.2.
 */
function statusFor({ type, isNamed }: ResponseType, { status, result }: Outcome): number {
  if (type === JSON_TYPE) return isNamed && !isOfHttp(status) ? 200 : status;
  if (result.data != null) return status === 401 ? status : 200;
  return result.data === undefined && status === 422 ? 400 : status;
}

/** What was thrown, as the answer to a request. */
export const refusal = (
  thrown: unknown,
  { id }: FastifyRequest,
  reply: FastifyReply,
  extensions?: Record<string, unknown>,
): Outcome => {
  const error = toAppError(thrown);
  noteError(reply, error);
  return {
    status: error.status,
    headers: errorHeaders(error),
    result: { errors: [toGraphQLError(error, id).toJSON()], extensions },
  };
};

function send(reply: FastifyReply, { type }: ResponseType, { status, headers }: Outcome, bytes: Buffer): FastifyReply {
  addVary(reply, 'Accept');
  return reply
    .code(status)
    .headers({ ...headers, 'cache-control': 'no-store' })
    .type(`${type}; charset=utf-8`)
    .send(bytes);
}

/** Sends an outcome that has no data. */
export const sendRefusal = (reply: FastifyReply, type: ResponseType, outcome: Outcome): FastifyReply =>
  send(reply, type, outcome, Buffer.from(JSON.stringify(shown(outcome))));

/** In the order in which people read it. */
const shown = ({ result: { errors, data, extensions } }: Pick<Outcome, 'result'>) => ({ errors, data, extensions });
