import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../log.js';

const STALL_MS = 60_000;
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

/**
 * Bounds connections: so many at once, and none whose client takes nothing of its answer for 60 s. A further connection is
 * closed unread, since an answer would cost what the limit is to save.
 *
 * Not left to `server.timeout`: that looks at bytes in either direction, so a client that reads nothing and keeps sending
 * would never be late, and takes what the network buffered at first for progress. A client that reads, however slowly, stays.
 *
 * Source: reliability P16.
 */
export function boundConnections(
  app: FastifyInstance,
  { maxConnections, log }: { maxConnections: number; log: Log },
): void {
  const stalled = new Map<Socket, Progress>();
  const open = new Set<Socket>();
  let refused = 0;
  app.server.maxConnections = maxConnections;
  app.server.on('drop', () => (refused += 1));
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      stalled.delete(socket);
    });
  });
  const sweep = setInterval(() => {
    if (refused > 0) log.warn('connections refused', { count: refused, limit: maxConnections });
    refused = 0;
    const now = performance.now();
    for (const socket of open) if (isStalled(socket, stalled, now)) socket.destroy();
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
