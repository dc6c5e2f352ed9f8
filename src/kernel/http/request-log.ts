import type { FastifyInstance } from 'fastify';
import type { Log } from '../log.js';

/**
 * Logs one line for each response, at level `debug` or, as an access log, at `info`, with the pattern of the route. Paths and queries are never logged, because they
 * contain input of callers, such as keys of secrets.
 */
export function logRequests(app: FastifyInstance, log: Log, level: 'debug' | 'info'): void {
  app.addHook('onResponse', async (request, reply) => {
    log[level]('request completed', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    });
  });
}
