import type { FastifyInstance } from 'fastify';
import type { Load, ResponseLoad } from '../load/load.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the response takes. Null in refusals of the router itself. */
    load: ResponseLoad;
  }
}

/** Gives each request an account of what its response takes, until it is sent or its connection has ended. */
export function boundResponses(app: FastifyInstance, load: Load): void {
  app.decorateRequest('load', null as unknown as ResponseLoad);
  app.addHook('onRequest', async (request, reply) => {
    request.load = load.open();
    // Also emitted if the client has gone, or is cut because it does not read.
    reply.raw.once('close', () => request.load.close());
  });
  // Also errors come through here, when nobody works on the response any more.
  app.addHook('onSend', async ({ load: ended }) => (ended as ResponseLoad | null)?.end());
}
