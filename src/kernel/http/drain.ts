import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from './health.js';

const FINISH_WITHIN_MS = 20_000;
const SWEEP_MS = 100;

/**
 * Lets `app.close()` finish running requests, and nothing else hold it: kept and silent connections are closed, and after
 * 20 s those that do not come to an end too.
 *
 * Source: reliability P9.
 */
export function drainOnClose(app: FastifyInstance, lifecycle: Lifecycle): void {
  const open = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // Asked when the answer is sent: its request may have begun before the drain, and a connection that is kept would hold it.
  app.addHook('onSend', async (_request, reply) => {
    if (lifecycle.isDraining) reply.header('connection', 'close');
  });
  app.addHook('preClose', async () => {
    const sweep = setInterval(() => {
      // A connection whose answer was being sent when the drain began is idle, and kept, a moment later.
      app.server.closeIdleConnections();
      // One that was opened ahead of its first request is not idle to Node.
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, SWEEP_MS);
    const last = setTimeout(() => app.server.closeAllConnections(), FINISH_WITHIN_MS);
    app.server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(last);
    });
  });
}
