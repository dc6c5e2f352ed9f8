import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { recordingDenials } from '../authz/denials.js';
import { type AnyContext, authenticated, type Context } from '../context.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import type { ContextFor } from './graphql.js';
import type { Lifecycle } from './health.js';

/** How much of a download waits for its client, in bytes. */
const BUFFERED_BYTES = 64 * 1024;

/** A response of any length, for callers with a token: it is made while it is sent, as fast as the client reads. */
export interface Download {
  /** As Fastify writes it. */
  readonly path: string;
  /** Media type. */
  readonly type: string;
  /**
   * Checks the request and begins. What it throws is the response; what the iterator throws later breaks the connection off.
   *
   * @param signal aborted when the node is leaving or the client has gone
   */
  readonly open: (ctx: Context, query: unknown, signal: AbortSignal) => Promise<AsyncIterable<string>>;
}

/** A download that is open. Its signal says that it has to end. */
interface OpenDownload {
  readonly signal: AbortSignal;
  close(how: 'client' | 'source' | 'drain' | 'stalled'): void;
}

/** What downloads need. */
export interface Downloading {
  readonly contextFor: ContextFor;
  readonly rateLimits: RateLimits;
  readonly lifecycle: Lifecycle;
  /** Counts them among the streams that are open. */
  readonly openStreams: { open(ctx: Context): OpenDownload };
}

/** Mounts a download. It counts as one read, as one use of its token, and while it lasts as a stream that is open. */
export function mountDownload(app: FastifyInstance, { path, type, open }: Download, parts: Downloading): void {
  const { contextFor, rateLimits, lifecycle, openStreams } = parts;
  const contexts = new WeakMap<FastifyRequest, AnyContext>();
  app.route({
    method: 'GET',
    url: path,
    // A HEAD would make all of it for nobody.
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      const ctx = await contextFor(request);
      rateLimits.take(reply, ctx, { kind: 'reads', mints: 0 });
      contexts.set(request, authenticated(ctx));
    },
    handler: async (request, reply) => {
      // It outlives the account of the response's memory, which ends as the first byte is sent.
      const ctx = { ...(contexts.get(request) as Context), load: undefined };
      const stream = openStreams.open(ctx);
      const { raw } = reply;
      if (raw.destroyed) stream.close('client');
      raw.once('close', () => {
        if (raw.writableFinished) stream.close('source');
        else stream.close(raw.writableNeedDrain ? 'stalled' : 'client');
      });
      const begin = () => open(ctx, request.query, stream.signal);
      const parts = await recordingDenials(ctx, begin).catch((error: unknown) => {
        stream.close('source');
        throw error;
      });
      const source = Readable.from(untilDrained(parts, lifecycle, stream), {
        objectMode: false,
        highWaterMark: BUFFERED_BYTES,
      });
      return reply.type(type).header('cache-control', 'no-store').send(source);
    },
  });
}

/** Tells the source when the node is leaving: what it gives then is its last. */
async function* untilDrained(
  parts: AsyncIterable<string>,
  lifecycle: Lifecycle,
  stream: OpenDownload,
): AsyncGenerator<string> {
  for await (const part of parts) {
    yield part;
    if (lifecycle.isDraining) stream.close('drain');
  }
}
