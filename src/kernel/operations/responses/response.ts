import { createHash } from 'node:crypto';
import type { Context } from '../../context.js';
import type { ResponseLoad } from '../../load/load.js';
import { jsonBytes } from './json-bytes.js';

/** A reply, ready to be sent. */
export interface BufferedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** It has errors beside its data, or in place of it: nobody else gets it. */
  readonly hasErrors?: boolean;
}

/** How a caller stands to a project, or to all of its projects, at this moment. */
export interface AccessStamp {
  /** Equal for callers who may do the same there. */
  readonly fingerprint: string;
  /** Rises with every change of what replies about it show. */
  readonly revision: number;
}

/**
 * Null when there is no such project, or not for this caller, or when nobody can tell how long it stands so. What it found out is what
 * services of this request go by.
 *
 * @param projectId null: all projects of the caller, and not what is in them
 */
export type AccessStampOf = (ctx: Context, projectId: string | null) => Promise<AccessStamp | null>;

/**
 * JSON as bytes. A GET has a strong tag of them.
 *
 * @throws ANSWER_TOO_LARGE, OVERLOADED
 */
export async function jsonResponse(
  body: unknown,
  headers: Readonly<Record<string, string>>,
  load: ResponseLoad,
  isTagged: boolean,
): Promise<BufferedResponse> {
  const hash = createHash('sha256');
  const bytes = await boundedJson(body, load, (piece) => isTagged && hash.update(piece));
  const all: Record<string, string> = { 'content-type': 'application/json; charset=utf-8', ...headers };
  if (isTagged) all.etag = `"${hash.digest('base64url')}"`;
  return { status: 200, headers: all, bytes };
}

/** The JSON of a response. @throws ANSWER_TOO_LARGE, OVERLOADED */
export async function boundedJson(
  body: unknown,
  load: ResponseLoad,
  onPiece: (piece: Buffer) => unknown = () => undefined,
): Promise<Buffer> {
  const write = (piece: Buffer): void => {
    load.write(piece.length);
    onPiece(piece);
  };
  const bytes = await jsonBytes(body, write, load.expectedBytes);
  load.hold(bytes);
  return bytes;
}

/** Tag of an answer in another coding: strong tags are of bytes, so each representation has its own. */
export const encodedTag = (tag: string, encoding: string): string => tag.replace(/"$/, `.${encoding}"`);

/** Whether `If-Match` names the tag of an answer, by strong comparison: a weak tag never does. Any coding of the answer is it. */
export const hasStrongTag = (header: string, { headers: { etag } }: Pick<BufferedResponse, 'headers'>): boolean =>
  header.split(',').some((tag) => plainTag(tag.trim()) === etag);

/** `"abc.br"` -> `"abc"` */
const plainTag = (tag: string): string => tag.replace(/\.\w+"$/, '"');

/**
 * The entry of `If-None-Match` that says that a caller has this answer, by weak comparison, as RFC 9110 asks; undefined when
 * none does. Whichever coding it has it in, nothing has changed; the 304 names that one, so that the caller's cache finds it.
 */
export function matchingTag(
  header: string | undefined,
  { headers: { etag } }: Pick<BufferedResponse, 'headers'>,
): string | undefined {
  if (header === undefined || etag === undefined) return undefined;
  if (header.trim() === '*') return etag;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.find((tag) => plainTag(tag) === etag);
}
