import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../log.js';

const STALL_MS = 60_000;
const IDLE_MS = 61_000;
const SWEEP_MS = 1_000;

/** What Node keeps of a socket's writes: bytes handed over, and those of them that the network has not taken yet. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

interface Progress {
  taken: number;
  at: number;
}

/** Requests of a connection that are not answered yet, and since when there are none. */
interface Use {
  pending: number;
  idleSince: number;
}

/**
 * Bounds connections: so many at once, none whose client takes nothing of its answer for 60 s, and none that asks nothing for
 * 61 s. A further connection is closed unread, since an answer would cost what the limit is to save.
 *
 * Not left to `server.timeout` and `keepAliveTimeout`: they look at bytes in either direction, so a client that reads nothing and
 * keeps sending would never be late, nor one that sends blank lines, which are no request; and they take what the network
 * buffered at first for progress. A client that reads, however slowly, stays.
 *
 * Source: reliability P16.
 */
export function boundConnections(
  app: FastifyInstance,
  { maxConnections, log }: { maxConnections: number; log: Log },
): void {
  const stalled = new Map<Socket, Progress>();
  const open = new Map<Socket, Use>();
  let refused = 0;
  app.server.maxConnections = maxConnections;
  app.server.on('drop', () => (refused += 1));
  app.server.on('connection', (socket: Socket) => {
    open.set(socket, { pending: 0, idleSince: performance.now() });
    socket.once('close', () => {
      open.delete(socket);
      stalled.delete(socket);
    });
  });
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const use = open.get(socket);
    if (use === undefined) return;
    use.pending += 1;
    response.once('close', () => {
      use.pending -= 1;
      use.idleSince = performance.now();
    });
  });
  const sweep = setInterval(() => {
    if (refused > 0) log.warn('connections refused', { count: refused, limit: maxConnections });
    refused = 0;
    const now = performance.now();
    for (const [socket, { pending, idleSince }] of open) {
      const isIdle = pending === 0 && now - idleSince >= IDLE_MS;
      if (isIdle || isStalled(socket, stalled, now)) socket.destroy();
    }
  }, SWEEP_MS).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
}

function isStalled(socket: Socket, stalled: Map<Socket, Progress>, now: number): boolean {
  const handle = (socket as unknown as { _handle: Handle | null })._handle;
  if (socket.writableLength === 0 || handle === null) {
    stalled.delete(socket);
    return false;
  }
  const taken = handle.bytesWritten - handle.writeQueueSize;
  const last = stalled.get(socket);
  if (last?.taken === taken) return now - last.at >= STALL_MS;
  stalled.set(socket, { taken, at: now });
  return false;
}
