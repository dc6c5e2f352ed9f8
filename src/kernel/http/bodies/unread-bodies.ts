import type { FastifyInstance } from 'fastify';
import { paceBody } from './body-pace.js';

const LINGER_MS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Lets clients read why their request was refused before all of it had come. A connection closed with bytes unread is reset,
 * and the reset overtakes the answer; one that is kept reads on for as long as the request may take, whatever comes. So the rest is
 * thrown away for a moment, and not without end: then the connection is cut.
 */
export function discardUnreadBodies(app: FastifyInstance): void {
  app.addHook('onSend', async ({ raw: request }, reply) => {
    if (request.complete || request.destroyed) return;
    const { raw: response } = reply;
    const { socket } = request;
    const isLast = !response.shouldKeepAlive;
    // Node would close as soon as the answer is written.
    reply.removeHeader('connection');
    response.shouldKeepAlive = true;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) socket.destroy();
      paceBody(request, chunk.length);
    });
    response.once('finish', () => {
      const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
      const done = (): void => {
        clearTimeout(linger);
        if (isLast) socket.destroySoon();
      };
      if (request.complete) done();
      else request.once('end', done).once('close', () => clearTimeout(linger));
    });
  });
}
