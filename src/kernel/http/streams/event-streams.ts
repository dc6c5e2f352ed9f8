import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordingDenials } from '../../authz/denials.js';
import { type AnyContext, authenticated, type Context } from '../../context.js';
import { AppError, toAppError, toEnvelope } from '../../errors.js';
import { type Log, logFailure } from '../../log.js';
import type { RateLimits } from '../../operations/limits/rate-limits.js';
import { chooseType } from '../content-negotiation.js';
import type { ContextFor } from '../graphql.js';
import { type Frame, frameText, withHeartbeats } from './frames.js';
import type { OpenStream, OpenStreams } from './open-streams.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers as long as the client stays: how long that is says nothing about the service. */
    readonly isStream?: true;
  }
}

const STREAM_TYPE = 'text/event-stream';

/** What a request for a stream says. */
interface StreamRequest {
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined for a GET. */
  readonly body: unknown;
  /** The last event that the client has received; null: it has none. */
  readonly lastEventId: string | null;
  /** Aborted when the client has gone, or has to go. */
  readonly signal: AbortSignal;
}

/** A path that answers with server-sent events. A slice declares them in its `index.ts`. */
export interface EventStream {
  readonly method: 'GET' | 'POST';
  /** As Fastify writes it. */
  readonly path: string;
  /**
   * Checks the request and begins the stream. What it throws before its first frame is the response; what it throws later is sent as
   * the event `error`, and ends the stream.
   */
  readonly open: (ctx: Context, request: StreamRequest) => Promise<AsyncIterator<Frame>>;
}

/** What routes of streams need. */
export interface Streaming {
  readonly contextFor: ContextFor;
  readonly rateLimits: RateLimits;
  readonly openStreams: OpenStreams;
  readonly log: Log;
}

/** Mounts the event streams of slices. A stream counts as one read, and as one use of its token. */
export function mountEventStreams(app: FastifyInstance, streams: readonly EventStream[], streaming: Streaming): void {
  const { contextFor, rateLimits, openStreams, log } = streaming;
  app.addHook('preClose', async () => openStreams.drain());
  const contexts = new WeakMap<FastifyRequest, AnyContext>();
  for (const { method, path, open } of streams)
    app.route({
      method,
      url: path,
      // A HEAD would open a stream that nobody reads.
      exposeHeadRoute: false,
      config: { isStream: true },
      onRequest: async (request, reply) => {
        const ctx = await contextFor(request);
        rateLimits.take(reply, ctx, { kind: 'reads', mints: 0 });
        contexts.set(request, authenticated(ctx));
      },
      handler: async (request, reply) => {
        if (chooseType(request.headers.accept, [STREAM_TYPE]) === null)
          throw new AppError('NOT_ACCEPTABLE', 'The response is an event stream. Accept text/event-stream.');
        const ctx = streamContext(contexts.get(request) as Context);
        const { query, body, headers } = request;
        const lastEventId = headers['last-event-id'];
        return sendStream(reply, openStreams.open(ctx), async ({ signal }) => {
          const asked = {
            query: query as Record<string, unknown>,
            body,
            lastEventId: lastEventId?.toString() ?? null,
            signal,
          };
          const frames = await recordingDenials(ctx, () => open(ctx, asked));
          return textsOf(frames, (error) => {
            logFailure(log, toAppError(error), error, ctx.requestId);
            return frameText({ event: 'error', data: toEnvelope(error, ctx.requestId).body });
          });
        });
      },
    });
}

/** The context of a stream: it outlives the response's account of memory, which ends as the first byte is sent. */
export const streamContext = (ctx: Context): Context => ({ ...ctx, load: undefined });

/** Frames as they are sent, and in the end what went wrong. */
async function* textsOf(frames: AsyncIterator<Frame>, onError: (error: unknown) => string): AsyncGenerator<string> {
  try {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) yield frameText(next.value);
  } catch (error) {
    yield onError(error);
  } finally {
    await frames.return?.();
  }
}

/**
 * Answers with a stream, as long as the client reads and the stream is open. The socket takes what it has room for; nothing else is
 * read from the source before that.
 *
 * @param begin what it throws is answered as usual
 */
export async function sendStream(
  reply: FastifyReply,
  stream: OpenStream,
  begin: (stream: OpenStream) => Promise<AsyncIterator<string>>,
): Promise<FastifyReply> {
  const { raw } = reply;
  raw.once('close', () => {
    if (raw.writableFinished) stream.close('source');
    else stream.close(raw.writableNeedDrain ? 'stalled' : 'client');
  });
  let source: AsyncIterator<string>;
  try {
    source = await begin(stream);
  } catch (error) {
    stream.close('source');
    throw error;
  }
  // A client that has gone meanwhile has no `close` event left to come.
  if (raw.destroyed) stream.close('client');
  return reply
    .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    .type(`${STREAM_TYPE}; charset=utf-8`)
    .send(Readable.from(withHeartbeats(source), { objectMode: false, highWaterMark: 1 }));
}
