import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { encodedTag } from '../operations/responses/answer.js';
import { type Encoding, preferredEncoding } from './accept-encoding.js';
import { addVary } from './vary.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answers of the route, or those that it names, hold no secret value and no token, whoever asks. */
    readonly isCompressible?: boolean | ((request: FastifyRequest) => boolean);
  }
}

/** Below this a packet is saved at best. */
const SMALLEST = 1_024;

const COMPRESS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  // Quality 4: the usual 11 is for files that are compressed once in their life.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/**
 * Compresses answers of the routes that say `isCompressible` in their `config`. All others go out as they are, whatever a client
 * accepts: the length of a compressed answer tells what it repeats, so one that holds a secret beside what a caller chose gives
 * it away bit by bit (BREACH).
 *
 * A compressed answer is another representation: it has a tag of its own, and `HEAD` tells its length. It is made beside the
 * event loop, and once for bytes that are sent again.
 *
 * Not `@fastify/compress`: with it both representations have one strong tag, the answer to HEAD tells another length and
 * encoding than that to GET, and only compressed answers vary.
 */
export function compressAnswers(app: FastifyInstance): void {
  const made = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();
  const compressed = (bytes: Buffer, encoding: Encoding): Promise<Buffer> => {
    const known = made.get(bytes) ?? new Map<Encoding, Promise<Buffer>>();
    const promise = known.get(encoding) ?? COMPRESS[encoding](bytes);
    made.set(bytes, known.set(encoding, promise));
    return promise;
  };
  app.addHook('onSend', async (request, reply, payload) => {
    const { isCompressible = false } = request.routeOptions.config;
    if (isCompressible === false) return payload;
    addVary(reply, 'Accept-Encoding');
    if (reply.statusCode !== 200 || reply.hasHeader('content-encoding')) return payload;
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const { encoding, isNeeded } = preferredEncoding(String(request.headers['accept-encoding'] ?? ''));
    if (encoding === null || (Buffer.byteLength(payload) < SMALLEST && !isNeeded)) return payload;
    if (isCompressible !== true && !isCompressible(request)) return payload;
    const bytes = await compressed(Buffer.isBuffer(payload) ? payload : Buffer.from(payload), encoding);
    const tag = reply.getHeader('etag');
    if (tag !== undefined) reply.header('etag', encodedTag(String(tag), encoding));
    reply.header('content-encoding', encoding).removeHeader('content-length');
    return bytes;
  });
}
