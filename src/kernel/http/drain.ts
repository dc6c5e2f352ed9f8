import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { sendError } from './error-replies.js';
import type { Lifecycle } from './health.js';

const FINISH_WITHIN_MS = 20_000;
const SWEEP_MS = 100;
/** How long the first request of a connection may be on its way once the port is to close. */
const FIRST_REQUEST_MS = 500;
const EMPTY_QUEUE_WITHIN_MS = 2_000;
/** How long a request that has begun to arrive may still take to do so. */
const ARRIVE_WITHIN_MS = 1_500;

/**
 * Lets `app.close()` finish running requests, and nothing else hold it: kept and silent connections are closed, requests
 * whose bodies do not arrive within 1.5 s are answered SHUTTING_DOWN, and after 20 s all other connections are closed. Nobody
 * whose request has arrived is reset before the response.
 *
 * Source: reliability P9.
 */
export function drainOnClose(app: FastifyInstance, lifecycle: Lifecycle): void {
  /** When each connection was taken. */
  const open = new Map<Socket, number>();
  let taken = 0;
  app.server.on('connection', (socket: Socket) => {
    taken += 1;
    open.set(socket, performance.now());
    socket.once('close', () => open.delete(socket));
  });
  // Asked when the answer is sent: its request may have begun before the drain, and a connection that is kept would hold it.
  app.addHook('onSend', async (_request, reply) => {
    if (lifecycle.isDraining) reply.header('connection', 'close');
  });
  const requests = new Map<FastifyRequest, FastifyReply>();
  app.addHook('onRequest', async (request, reply) => {
    requests.set(request, reply);
    reply.raw.once('close', () => requests.delete(request));
  });
  const refuseUnfinished = (): void => {
    for (const [{ raw, id }, reply] of requests) {
      if (raw.complete || reply.raw.headersSent) continue;
      void sendError(reply, id, new AppError('SHUTTING_DOWN'));
    }
    const used = new Set([...requests.keys()].map(({ raw: { socket } }) => socket));
    // Those without a request have sent a part of its head at most.
    for (const socket of open.keys()) if (!used.has(socket)) socket.destroy();
  };
  const sweep = async (): Promise<void> => {
    // What has arrived is read first: a late timer comes before that.
    await turn();
    // A connection whose answer was being sent when the drain began is idle, and kept, a moment later.
    app.server.closeIdleConnections();
    // One that was opened ahead of its first request is not idle to Node.
    const before = performance.now() - FIRST_REQUEST_MS;
    for (const [socket, since] of open) if (socket.bytesRead === 0 && since < before) socket.destroy();
  };
  app.addHook('preClose', async () => {
    const sweeping = setInterval(() => void sweep(), SWEEP_MS);
    const arrived = setTimeout(refuseUnfinished, ARRIVE_WITHIN_MS);
    const last = setTimeout(() => app.server.closeAllConnections(), FINISH_WITHIN_MS);
    app.server.once('close', () => {
      clearInterval(sweeping);
      clearTimeout(arrived);
      clearTimeout(last);
    });
    await emptyQueue(() => taken);
    // Here, in the same turn: until Fastify closes the port, some more pass.
    app.server.close();
  });
}

/**
 * Waits for a turn of the loop in which no connection came: then none is left in the queue of the port, where the system
 * would reset it when the port closes.
 */
async function emptyQueue(taken: () => number): Promise<void> {
  const deadline = performance.now() + EMPTY_QUEUE_WITHIN_MS;
  for (let before = -1; before !== taken() && performance.now() < deadline; ) {
    before = taken();
    await turn();
  }
}
