import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError, type ErrorDetail } from '../kernel/errors.js';
import type { GraphQLContext } from '../kernel/graphql/apollo.js';
import { faultsOf, pathOf, validationFailed } from '../kernel/validation.js';
import type { CompiledRoute } from './compile.js';

interface Mounting {
  readonly contextFor: (request: FastifyRequest) => Promise<GraphQLContext>;
}

const NOTHING = z.strictObject({});

/** Mounts compiled routes. Authentication comes first, then the shape of the request, then the document. Source: decisions 2.4. */
export function mountRoutes(app: FastifyInstance, routes: readonly CompiledRoute[], { contextFor }: Mounting): void {
  const contexts = new WeakMap<FastifyRequest, GraphQLContext>();
  for (const compiled of routes) {
    const { method, path, anonymous } = compiled.route;
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      onRequest: async (request) => {
        const ctx = await contextFor(request);
        if (ctx.actor === null && anonymous !== true) throw new AppError('TOKEN_MISSING');
        contexts.set(request, ctx);
      },
      handler: (request, reply) => answer(compiled, contexts.get(request) as GraphQLContext, request, reply),
    });
  }
}

async function answer(
  { route, run }: CompiledRoute,
  ctx: GraphQLContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const data = await run(ctx, route.variables(checkedRequest(route, request)));
  const bytes = Buffer.from(JSON.stringify(route.reply(data)));
  reply.headers({
    'cache-control': route.sensitive === true ? 'no-store' : 'private, no-cache',
    ...route.headers?.(data),
  });
  reply.type('application/json; charset=utf-8');
  if (route.method !== 'GET') return reply.send(bytes);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  reply.header('etag', etag);
  return matches(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(bytes);
}

/** Checks path, query and body, and tells the faults of all three at once. */
function checkedRequest(route: CompiledRoute['route'], request: FastifyRequest): Parameters<typeof route.variables>[0] {
  const query = Object.entries(request.query as Record<string, unknown>);
  const faults: ErrorDetail[] = query
    .filter(([, value]) => Array.isArray(value))
    .map(([name]) => ({ path: pathOf([name], 'query'), code: 'REPEATED', message: 'must be given once' }));
  const checked = <T extends z.ZodObject>(rules: T | undefined, input: unknown, place: string): z.output<T> => {
    const parsed = (rules ?? NOTHING).safeParse(input, { reportInput: true });
    if (!parsed.success) faults.push(...faultsOf(parsed.error, place));
    return parsed.data as z.output<T>;
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

/** `If-None-Match` by weak comparison, as RFC 9110 asks: `*`, or a list with our tag in it. */
const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
