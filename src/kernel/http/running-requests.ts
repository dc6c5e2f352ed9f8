import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Running, runAs } from '../running.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Name of the operation of the route. */
    readonly operation?: () => string;
  }
}

/** Gives each request its name, for who wants to know what runs. The first hook of all. */
export function nameRequests(app: FastifyInstance): void {
  const named = new WeakMap<FastifyRequest, Running>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { url = '(unknown path)', config } = request.routeOptions;
    const running: Running = {
      requestId: request.id,
      route: `${request.method} ${url}`,
      operation: config.operation,
    };
    named.set(request, running);
    runAs(running, done);
  });
  // The end of a body is reported outside of what the first hook began.
  app.addHook('preValidation', (request, _reply, done) => runAs(named.get(request) ?? {}, done));
}
