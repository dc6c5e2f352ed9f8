import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { type Log, logFailure } from '../log.js';
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
 * An open connection. Its request stands here, and not in a map of requests: a map whose entries come and go leaves its earlier tables
 * behind, each of which refers to the next, and with them V8 kept every request until the next full collection.
 */
interface OpenConnection {
  /** When it was accepted. */
  readonly at: number;
  /** Null when it has ended. */
  socket: Socket | null;
  /** The one that is being answered; a connection has one at a time. */
  request: FastifyRequest | null;
  reply: FastifyReply | null;
}

/**
 * Lets `app.close()` finish running requests, and nothing else hold it: kept and silent connections are closed, requests
 * whose bodies do not arrive within 1.5 s are answered SHUTTING_DOWN, and after 20 s all other connections are closed. Nobody
 * whose request has arrived is reset before the response.
 */
export function drainOnClose(app: FastifyInstance, lifecycle: Lifecycle): void {
  const open = new Set<OpenConnection>();
  const connectionOf = new WeakMap<Socket, OpenConnection>();
  let accepted = 0;
  app.server.on('connection', (socket: Socket) => {
    accepted += 1;
    const connection: OpenConnection = { at: performance.now(), socket, request: null, reply: null };
    open.add(connection);
    connectionOf.set(socket, connection);
    socket.once('close', () => {
      open.delete(connection);
      connection.socket = null;
    });
  });
  // Asked when the answer is sent: its request may have begun before the drain, and a connection that is kept would hold it.
  app.addHook('onSend', async (_request, reply) => {
    if (lifecycle.isDraining) reply.header('connection', 'close');
  });
  app.addHook('onRequest', async (request, reply) => {
    const connection = connectionOf.get(request.raw.socket);
    if (connection === undefined) return;
    Object.assign(connection, { request, reply });
    reply.raw.once('close', () => {
      if (connection.reply === reply) Object.assign(connection, { request: null, reply: null });
    });
  });
  const refuseUnfinished = (): void => {
    for (const { socket, request, reply } of open) {
      // Those without a request have sent a part of its head at most.
      if (request === null || reply === null) socket?.destroy();
      else if (!request.raw.complete && !reply.raw.headersSent)
        void sendError(reply, request.id, new AppError('SHUTTING_DOWN'));
    }
  };
  const sweep = async (): Promise<void> => {
    // What has arrived is read first: a late timer comes before that.
    await turn();
    // A connection whose answer was being sent when the drain began is idle, and kept, a moment later.
    app.server.closeIdleConnections();
    // One that was opened ahead of its first request is not idle to Node.
    const before = performance.now() - FIRST_REQUEST_MS;
    for (const { socket, at } of open) if (socket?.bytesRead === 0 && at < before) socket.destroy();
  };
  let closed: Promise<void> | undefined;
  app.addHook('preClose', async () => {
    const sweeping = setInterval(() => void sweep(), SWEEP_MS);
    const arrived = setTimeout(refuseUnfinished, ARRIVE_WITHIN_MS);
    const last = setTimeout(() => app.server.closeAllConnections(), FINISH_WITHIN_MS);
    await emptyQueue(() => accepted);
    // Here, in the same turn: until Fastify closes the port, some more pass.
    closed = app.acceptors.close().finally(() => {
      clearInterval(sweeping);
      clearTimeout(arrived);
      clearTimeout(last);
    });
  });
  // Fastify waits for the connections of its own listening socket.
  app.addHook('onClose', () => closed);
}

/**
 * Waits for a turn of the loop in which no connection came: then none is left in the queue of the port, where the system
 * would reset it when the port closes.
 */
async function emptyQueue(accepted: () => number): Promise<void> {
  const deadline = performance.now() + EMPTY_QUEUE_WITHIN_MS;
  for (let before = -1; before !== accepted() && performance.now() < deadline; ) {
    before = accepted();
    await turn();
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long a request of the route may take, where it is another time than that of the service. */
    readonly deadlineSeconds?: number;
  }
}

/** Longer than for other errors: whatever was too slow needs time to recover. */
const RETRY_AFTER_SECONDS = 5;

/** The work is not undone: nobody can tell whether a database that does not respond has committed it. */
const GIVEN_UP =
  'The request exceeded its time limit. A change may still take effect. Send the request again with the same Idempotency-Key: it has no second effect.';

/**
 * Answers each request by its deadline, whatever the database does. What the request still does comes to its end, and its
 * response is dropped.
 *
 * Not Fastify's `handlerTimeout`: it ends with the `close` event of the request, which comes as soon as a body has been read.
 */
export function respondByDeadline(
  app: FastifyInstance,
  { requestSeconds, log }: { requestSeconds: number; log: Log },
): void {
  const answering = new WeakSet<FastifyReply>();
  app.addHook('onRequest', async (request, reply) => {
    const { deadlineSeconds = requestSeconds } = request.routeOptions.config;
    const deadline = setTimeout(() => {
      if (answering.has(reply)) return;
      const error = lateness(request);
      logFailure(log, error, error, request.id);
      void sendError(reply, request.id, error);
    }, deadlineSeconds * 1_000);
    reply.raw.once('close', () => clearTimeout(deadline));
  });
  // Called as soon as the response is known. It may still be compressed then.
  app.addHook('onSend', async (_request, reply) => {
    answering.add(reply);
  });
}

const lateness = ({ raw }: FastifyRequest): AppError =>
  raw.complete
    ? new AppError('DEADLINE_EXCEEDED', GIVEN_UP, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    : new AppError('REQUEST_TIMEOUT');
