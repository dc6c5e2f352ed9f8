import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { type Log, logFailure } from '../log.js';
import { sendError } from './error-replies.js';

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
