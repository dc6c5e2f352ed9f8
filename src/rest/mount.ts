import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError, type ErrorDetail } from '../kernel/errors.js';
import type { GraphQLContext } from '../kernel/graphql/apollo.js';
import { replyHeaders } from '../kernel/http/reply-headers.js';
import type { RateLimits } from '../kernel/limits/rate-limits.js';
import { type Answer, jsonAnswer, matchingTag } from '../kernel/replies/answer.js';
import { checkIdempotencyKey, type IdempotencyKeys } from '../kernel/replies/idempotency.js';
import type { ReplyCache } from '../kernel/replies/reply-cache.js';
import { inOneGo } from '../kernel/slices.js';
import { check, validationFailed } from '../kernel/validation.js';
import type { CompiledRoute } from './compile.js';

interface Mounting {
  readonly contextFor: (request: FastifyRequest, isAnonymous: boolean) => Promise<GraphQLContext>;
  readonly replyCache: ReplyCache;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly rateLimits: RateLimits;
}

const NOTHING = z.strictObject({});

/** Mounts compiled routes. Authentication comes first, then the rate limit, the shape, the document. Source: decisions 2.4. */
export function mountRoutes(app: FastifyInstance, routes: readonly CompiledRoute[], mounting: Mounting): void {
  const contexts = new WeakMap<FastifyRequest, GraphQLContext>();
  for (const compiled of routes) {
    const { method, path, anonymous, sensitive } = compiled.route;
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      config: { isCompressible: method === 'GET' && sensitive !== true },
      onRequest: async (request, reply) => {
        const ctx = await mounting.contextFor(request, anonymous === true);
        mounting.rateLimits.take(reply, ctx, compiled.demand);
        if (ctx.actor === null && anonymous !== true) throw new AppError('TOKEN_MISSING');
        contexts.set(request, ctx);
      },
      handler: async (request, reply) =>
        send(request, reply, await answer(compiled, contexts.get(request) as GraphQLContext, request, mounting)),
    });
  }
}

/** The reply: kept from before, made once for an idempotency key, or simply made. */
async function answer(
  { route, run, complete }: CompiledRoute,
  ctx: GraphQLContext,
  request: FastifyRequest,
  { replyCache, idempotencyKeys }: Mounting,
): Promise<Answer> {
  const isRead = route.method === 'GET';
  const accepted = await complete(ctx, await inOneGo(() => checkedRequest(route, request)));
  const variables = route.variables(accepted) as Record<string, unknown>;
  const make = async (at: GraphQLContext): Promise<Answer> => {
    const data = await run(at, variables);
    const caching = { 'cache-control': route.sensitive === true ? 'no-store' : 'private, no-cache' };
    return jsonAnswer(route.reply(data), { ...caching, ...replyHeaders(route.headers, data) }, request.load, isRead);
  };
  if (ctx.actor === null) return make(ctx);
  if (route.cached === true) {
    const wanted = { projectId: String(variables.projectId), request: route.path + JSON.stringify(variables) };
    return replyCache.answer(ctx, wanted, make);
  }
  const key = isRead ? undefined : request.headers['idempotency-key'];
  if (key === undefined) return make(ctx);
  const asked = [route.method, route.path, variables];
  return idempotencyKeys.answer(ctx, { key: checkIdempotencyKey(String(key)), request: asked }, make);
}

function send({ headers, load }: FastifyRequest, reply: FastifyReply, made: Answer): FastifyReply {
  const tag = matchingTag(headers['if-none-match'], made);
  if (tag === undefined) load.hold(made.bytes);
  reply.headers(made.headers);
  return tag === undefined ? reply.code(made.status).send(made.bytes) : reply.code(304).header('etag', tag).send();
}

/** Checks path, query and body, and tells the faults of all three at once. */
function checkedRequest(route: CompiledRoute['route'], request: FastifyRequest): Parameters<typeof route.variables>[0] {
  const query = Object.entries(request.query as Record<string, unknown>);
  const faults: ErrorDetail[] = query
    // One that the route does not know is told as such.
    .filter(([name, value]) => Array.isArray(value) && Object.hasOwn(route.query?.shape ?? {}, name))
    .map(([name]) => ({ path: `query.${name}`, code: 'REPEATED', message: 'must be given once' }));
  const checked = <T extends z.ZodObject>(rules: T | undefined, input: unknown, place: string): z.output<T> => {
    const { data, faults: found = [] } = check(rules ?? NOTHING, input, place);
    faults.push(...found);
    return data as z.output<T>;
  };
  const params = route.params === undefined ? request.params : checked(route.params, request.params, 'params');
  const accepted = {
    params: params as Record<string, string>,
    query: checked(route.query, Object.fromEntries(query.map(([name, value]) => [name, [value].flat()[0]])), 'query'),
    body: checked(route.body, request.body === undefined ? {} : request.body, 'body'),
  };
  if (faults.length > 0) throw validationFailed(faults);
  return accepted;
}
