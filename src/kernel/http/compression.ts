import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { encodedTag } from '../operations/responses/response.js';
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
 * Compresses responses of routes with `isCompressible` in their `config`. Other responses are never compressed, whatever a client
 * accepts: the length of a compressed response depends on its repetitions, so a response with a secret next to input of the
 * caller would reveal the secret bit by bit (BREACH).
 *
 * A compressed response is another representation: it has its own ETag, and `HEAD` reports its length. It is compressed off the
 * event loop, and only once for bytes that are sent repeatedly.
 *
 * `@fastify/compress` is not used: it gives both representations the same strong ETag, reports another length and encoding for
 * HEAD than for GET, and sets Vary only on compressed responses.
 */
export function compressResponses(app: FastifyInstance): void {
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
