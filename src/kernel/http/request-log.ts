import type { FastifyInstance } from 'fastify';
import type { Log } from '../log.js';

/**
 * One line for each answer, at `debug`: what was asked is told by the route's pattern. Paths and queries hold what callers
 * sent, keys of secrets among it, and stand in no log.
 */
export function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', async (request, reply) => {
    log.debug('request completed', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    });
  });
}
