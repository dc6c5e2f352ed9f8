import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import type { Cors } from './cors.js';
import { sendError } from './error-replies.js';

/** Sends a page to a browser at an address that does not exist; null for all other callers. */
export type LostVisitor = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

/**
 * Remembers which methods each path answers to, for what the router does not: `OPTIONS`, of a browser that asks for leave too,
 * and 405 with `Allow`.
 */
export function refuseOtherMethods(app: FastifyInstance, cors: Cors, lostVisitor: LostVisitor): void {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replace(/[.+]/g, '\\$&').replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`);
    for (const each of [method].flat()) routes.push({ method: each, pattern });
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.replace(/[?#].*$/, '');
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    if (allowed.length === 0)
      return lostVisitor(request, reply) ?? sendError(reply, request.id, new AppError('ROUTE_NOT_FOUND'));
    reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
    return request.method === 'OPTIONS'
      ? reply.code(204).headers(cors.preflightHeaders(request, allowed)).send()
      : sendError(reply, request.id, new AppError('METHOD_NOT_ALLOWED'));
  };
  app.setNotFoundHandler(answer);
  // Before a body is read: its faults are not what is wrong.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
}
