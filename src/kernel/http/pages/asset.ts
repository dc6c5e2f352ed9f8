import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchingTag } from '../../replies/answer.js';

/** A page, or a file that one needs: the same for every caller, compressed once, with nothing secret in it. */
export interface Asset {
  /** Media type, with its charset. */
  readonly type: string;
  readonly gzip: Buffer;
  /** Hash of the bytes; the strong tags are made of it. */
  readonly hash: string;
}

const TYPES = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
} as const;

/** Compresses a text. */
export const makeAsset = (kind: keyof typeof TYPES, text: string): Asset => ({
  type: TYPES[kind],
  gzip: gzipSync(text, { level: 9 }),
  hash: createHash('sha256').update(text).digest('base64url'),
});

const decompress = promisify(gunzip);

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
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(asked['accept-encoding'] ?? ''));
  const etag = isCompressed ? `"${hash}.gz"` : `"${hash}"`;
  reply.headers({ 'cache-control': 'public, no-cache', vary: 'accept-encoding', ...headers, etag }).type(type);
  if (matchingTag(asked['if-none-match'], { headers: { etag } }) !== undefined) return reply.code(304).send();
  if (isCompressed) return reply.header('content-encoding', 'gzip').send(gzip);
  return reply.send(await decompress(gzip));
}
