import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addVary, preferredEncoding } from '../http/content-negotiation.js';
import { encodedTag, matchingTag } from '../operations/responses/response.js';

/**
 * A page, or a file that one needs: the same for every caller, compressed once, with nothing secret in it. Only the compressed
 * bytes are held: the programs of the pages are 13 MB as they are.
 */
export interface Asset {
  /** Media type, with its charset. */
  readonly type: string;
  readonly gzip: Buffer;
  /** Hash of the bytes, compressed or not; the strong tags are made of it. */
  readonly hash: string;
}

const TYPES = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
} as const;

/** Compresses a text. */
export const makeAsset = (kind: keyof typeof TYPES, text: string): Asset => ({
  type: TYPES[kind],
  gzip: gzipSync(text, { level: 9 }),
  hash: hash('sha256', text, 'base64url'),
});

/** Reads a file that the build has compressed. */
export async function readAsset(kind: keyof typeof TYPES, file: URL): Promise<Asset> {
  const gzip = await readFile(file);
  return { type: TYPES[kind], gzip, hash: hash('sha256', gzip, 'base64url') };
}

const decompress = promisify(gunzip);

/** Bytes of assets that are being unpacked or sent, by what they were packed to. */
const unpacked = new WeakMap<Buffer, Promise<Buffer> | WeakRef<Buffer>>();

/** The bytes of an asset. However many are sent them, and do not read, they are in memory once; and not when nobody is. */
function bytesOf(packed: Buffer): Buffer | Promise<Buffer> {
  const known = unpacked.get(packed);
  const bytes = known instanceof WeakRef ? known.deref() : known;
  if (bytes !== undefined) return bytes;
  const making = decompress(packed).then((made) => {
    unpacked.set(packed, new WeakRef(made));
    return made;
  });
  unpacked.set(packed, making);
  making.catch(() => unpacked.delete(packed));
  return making;
}

/**
 * Sends an asset, or 304 when the caller has it. It may be kept anywhere, and is asked for again each time: a page and its
 * files then never come from two versions of the service.
 *
 * @param headers those of this reply alone; a policy for the content takes the place of the one that forbids everything
 */
export async function sendAsset(
  { headers: asked }: FastifyRequest,
  reply: FastifyReply,
  { type, gzip, hash }: Asset,
  headers: Readonly<Record<string, string>> = {},
): Promise<FastifyReply> {
  addVary(reply, 'Accept-Encoding');
  const { encoding } = preferredEncoding(String(asked['accept-encoding'] ?? ''), ['gzip']);
  const tag = `"${hash}"`;
  const etag = encoding === null ? tag : encodedTag(tag, encoding);
  reply.headers({ 'cache-control': 'public, no-cache', ...headers, etag }).type(type);
  const known = matchingTag(asked['if-none-match'], { headers: { etag: tag } });
  if (known !== undefined) return reply.code(304).header('etag', known).send();
  if (encoding !== null) return reply.header('content-encoding', encoding).send(gzip);
  return reply.send(await bytesOf(gzip));
}
