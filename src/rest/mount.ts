import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AnyContext } from '../kernel/context.js';
import { AppError, type ErrorDetail, toAppError } from '../kernel/errors.js';
import type { ResponseLoad } from '../kernel/load/load.js';
import type { RateLimits } from '../kernel/operations/limits/rate-limits.js';
import { checkIdempotencyKey, type IdempotencyKeys } from '../kernel/operations/responses/idempotency.js';
import {
  type BufferedResponse,
  hasStrongTag,
  jsonResponse,
  matchingTag,
} from '../kernel/operations/responses/response.js';
import type { ResponseCache } from '../kernel/operations/responses/response-cache.js';
import { type Checked, check, checkYielding, validationFailed } from '../kernel/validation.js';
import type { CompiledRoute } from './compiled-route.js';
import { prefersStrict, withoutHarmless } from './harmless-fields.js';
import { replyHeaders } from './response-headers.js';
import { type Data, NOTHING, type WrittenRoute } from './route.js';
import { lastWord, paramNames } from './sample-request.js';

interface Mounting {
  readonly contextFor: (request: FastifyRequest, isAnonymous: boolean) => Promise<AnyContext>;
  readonly responseCache: ResponseCache;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly rateLimits: RateLimits;
}

/** No field is harmless to those who prefer strict handling. */
const STRICT = { rules: NOTHING, harmless: {}, params: {} } as const;

/** Mounts compiled routes. Authentication comes first, then the rate limit, the shape, the document. */
export function mountRoutes(app: FastifyInstance, routes: readonly CompiledRoute[], mounting: Mounting): void {
  const contexts = new WeakMap<FastifyRequest, AnyContext>();
  for (const compiled of routes) {
    const { method, path, anonymous, sensitive, form } = compiled.declared;
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      config: {
        isCompressible: method === 'GET' && sensitive !== true,
        takesForm: form === true,
        operation: () => compiled.verbAndNoun,
      },
      onRequest: async (request, reply) => {
        const ctx = await mounting.contextFor(request, anonymous === true);
        mounting.rateLimits.take(reply, ctx, compiled.demand);
        if (ctx.actor === null && anonymous !== true) throw new AppError('TOKEN_MISSING');
        contexts.set(request, ctx);
      },
      handler: async (request, reply) => {
        const chosen = chosenRoute(compiled, request);
        return send(request, reply, await answer(chosen, contexts.get(request) as AnyContext, reply, mounting));
      },
    });
  }
}

/** The route that a request is for, which gets the last word of the path as its parameter where that is a name. */
function chosenRoute(compiled: CompiledRoute, request: FastifyRequest): CompiledRoute {
  const { route, ofName } = compiled;
  const given = (route.method === 'GET' ? request.query : request.body) ?? {};
  if (ofName === undefined || route.chosenBy?.some((field) => Object.hasOwn(given, field))) return compiled;
  const [name = ''] = paramNames(ofName.route.path).slice(-1);
  request.params = { ...(request.params as object), [name]: lastWord(route.path) };
  return ofName;
}

/** The reply: kept from before, made once for an idempotency key, or simply made. */
async function answer(
  compiled: CompiledRoute,
  ctx: AnyContext,
  reply: FastifyReply,
  { responseCache, idempotencyKeys }: Mounting,
): Promise<BufferedResponse> {
  const { route, complete } = compiled;
  const { headers, load } = reply.request;
  const ifMatch = compiled.current === undefined ? undefined : headers['if-match'];
  const isRead = route.method === 'GET';
  const request = await checkedRequest(compiled, reply);
  const findVariables = async () => route.variables(await complete(ctx, request)) as Record<string, unknown>;
  const make = async (at: AnyContext, found?: Record<string, unknown>): Promise<BufferedResponse> => {
    const variables = found ?? (await findVariables());
    const data = await runIfMatching(compiled, at, { params: request.params, variables, ifMatch, load });
    const caching = { 'cache-control': route.sensitive === true ? 'no-store' : 'private, no-cache' };
    return jsonResponse(
      replyOf(route, headers['user-agent'])(data),
      { ...caching, ...replyHeaders(route.headers, data) },
      load,
      isRead,
    );
  };
  if (ctx.actor === null) return make(ctx);
  if (route.cached === true || route.cachedForCaller === true) {
    const variables = await findVariables();
    const projectId = route.cached === true ? String(variables.projectId) : null;
    const wanted = { projectId, request: route.path + JSON.stringify(variables) };
    return responseCache.answer(ctx, wanted, (at) => make(at, variables));
  }
  const key = isRead ? undefined : headers['idempotency-key'];
  if (key === undefined) return make(ctx);
  // What a request names by a slug is looked up within: the same request sent again must not miss what it has deleted.
  const variables = route.lookup === undefined ? await findVariables() : undefined;
  const asked = [route.method, route.path, variables ?? request, ...(ifMatch === undefined ? [] : [ifMatch])];
  const wanted = { key: checkIdempotencyKey(String(key)), request: asked };
  return idempotencyKeys.answer(ctx, wanted, (at) => make(at, variables));
}

/** The reply as a client reads it. */
const replyOf = ({ reply, quirks = [] }: WrittenRoute, client = ''): WrittenRoute['reply'] =>
  quirks.find(({ userAgent }) => client.toLowerCase().startsWith(userAgent))?.reply ?? reply;

function send({ headers, load }: FastifyRequest, reply: FastifyReply, made: BufferedResponse): FastifyReply {
  const tag = matchingTag(headers['if-none-match'], made);
  if (tag === undefined) load.hold(made.bytes);
  reply.headers(made.headers);
  return tag === undefined ? reply.code(made.status).send(made.bytes) : reply.code(304).header('etag', tag).send();
}

/** Checks path, query and body, and reports the violations of all three at once. A header field names the harmless ones that were ignored. */
async function checkedRequest(
  { route: { query: rules = NOTHING, params, body = NOTHING, absent = {}, harmless = {} } }: CompiledRoute,
  reply: FastifyReply,
) {
  const { request } = reply;
  const query = Object.entries(request.query as Record<string, unknown>);
  const violations: ErrorDetail[] = query
    // An unknown one is reported as such.
    .filter(([name, value]) => Array.isArray(value) && Object.hasOwn(rules.shape, name))
    .map(([name]) => ({ path: `query.${name}`, code: 'REPEATED', message: 'must be sent only once' }));
  const noted = <T>({ data, violations: found = [] }: Checked<T>): T => {
    violations.push(...found);
    return data as T;
  };
  const given = Object.fromEntries(query.map(([name, value]) => [name, [value].flat()[0]]));
  const isStrict = prefersStrict(request.headers.prefer);
  if (isStrict) reply.header('preference-applied', 'handling=strict');
  const sent = request.body === undefined ? {} : withoutAbsent(request.body, absent);
  const repeatable = request.params as Record<string, string>;
  const stripped = withoutHarmless(sent, isStrict ? STRICT : { rules: body, harmless, params: repeatable });
  violations.push(...stripped.violations);
  const accepted = {
    params: (params ? noted(check(params, request.params, 'params')) : request.params) as Record<string, string>,
    query: noted(check(rules, given, 'query')),
    body: noted(await checkYielding(body, stripped.body, 'body')),
  };
  if (violations.length > 0) throw validationFailed(violations);
  if (stripped.ignored !== null) reply.header('x-ignored-keys', stripped.ignored);
  return accepted;
}

/** A body without the fields whose values stand for absent ones. */
function withoutAbsent(body: unknown, absent: NonNullable<WrittenRoute['absent']>): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const fields = Object.entries(body);
  const isAbsent = ([name, value]: [string, unknown]): boolean => Object.hasOwn(absent, name) && absent[name] === value;
  return fields.some(isAbsent) ? Object.fromEntries(fields.filter((field) => !isAbsent(field))) : body;
}

interface Conditional {
  readonly params: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The header field; undefined: unconditional. */
  readonly ifMatch: string | undefined;
  readonly load: ResponseLoad;
}

/**
 * Runs a change, where `If-Match` is given only on the state that its tag is of. The tag is compared with that of the present reply
 * of the GET; what was found there goes with the change, which checks it again under its lock.
 *
 * @throws PRECONDITION_FAILED, and whatever the change throws
 * Source: RFC 9110, 13.1.1.
 */
async function runIfMatching(
  { route, run, current }: CompiledRoute,
  ctx: AnyContext,
  { params, variables, ifMatch, load }: Conditional,
): Promise<Data> {
  // `*` holds for whatever exists, and what does not is refused by the change.
  if (ifMatch === undefined || current === undefined || ifMatch.trim() === '*') return run(ctx, variables);
  const found = await current.run(ctx, current.route.variables({ params: { ...params }, query: {}, body: {} }));
  const present = await jsonResponse(current.route.reply(found), {}, load, true);
  if (!hasStrongTag(ifMatch, present)) throw new AppError('PRECONDITION_FAILED');
  const input = { ...(variables.input as object), ...route.ifMatch?.(found) };
  return run(ctx, { ...variables, input }).catch((thrown: unknown) => {
    throw toAppError(thrown).code === 'CONCURRENT_CHANGE'
      ? new AppError('PRECONDITION_FAILED', undefined, { cause: thrown })
      : thrown;
  });
}
