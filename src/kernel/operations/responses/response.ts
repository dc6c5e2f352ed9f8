import { createHash } from 'node:crypto';
import type { Context } from '../../context.js';
import { yieldToEventLoop } from '../../event-loop.js';
import type { ResponseLoad } from '../../load/load.js';

/** A reply, ready to be sent. */
export interface BufferedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** It has errors beside its data, or in place of it: nobody else gets it. */
  readonly hasErrors?: boolean;
}

/** What a cached response about a project, or about all projects of a caller, must agree with to be served. */
export interface AccessStamp {
  /** Equal for callers who may do the same there. */
  readonly fingerprint: string;
  /** Rises with every change of what responses about it show. */
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

/** What is shorter is made in one piece: it takes about a millisecond. In characters, roughly. */
const PIECE_LENGTH = 256 * 1024;
/** Bytes that are copied at once. */
const COPIED_AT_ONCE = 4 * 1024 * 1024;
/** So many entries tell how long a list is. */
const SAMPLE = 8;
/** Room for a long text of which nobody knows the length. */
const FIRST_CAPACITY = 1024 * 1024;

/** Receives the bytes of each piece, in order. It may throw. */
type OnPiece = (piece: Buffer) => void;

/**
 * The bytes of `JSON.stringify`, made in pieces, between which other requests run.
 *
 * @param expectedBytes about how many it will be, so that they are written where they stay; 0: not known
 * @throws whatever `onPiece` throws
 */
export async function jsonBytes(value: unknown, onPiece: OnPiece, expectedBytes = 0): Promise<Buffer> {
  if (isShort(value)) {
    const bytes = Buffer.from(JSON.stringify(value));
    onPiece(bytes);
    return bytes;
  }
  // What is not written to takes no memory.
  let bytes: Buffer = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, Math.ceil(1.25 * expectedBytes)));
  let length = 0;
  for (const text of longTexts(value)) {
    const end = length + Buffer.byteLength(text);
    if (end > bytes.length) bytes = await larger(bytes.subarray(0, length), end);
    bytes.write(text, length);
    onPiece(bytes.subarray(length, end));
    length = end;
    await yieldToEventLoop();
  }
  return bytes.subarray(0, length);
}

/** The same bytes with room for at least so many, and for as many again. Copying many megabytes at once would take long. */
async function larger(bytes: Buffer, capacity: number): Promise<Buffer> {
  const copy = Buffer.allocUnsafeSlow(2 * capacity);
  for (let at = 0; at < bytes.length; at += COPIED_AT_ONCE) {
    bytes.copy(copy, at, at, at + COPIED_AT_ONCE);
    await yieldToEventLoop();
  }
  return copy;
}

/** The JSON of a long value in texts that are not much longer than a piece. Undefined members are left out. */
function* longTexts(value: unknown): Generator<string> {
  if (Array.isArray(value)) yield* ofList(value);
  else if (typeof value === 'string') yield* ofString(value);
  else yield* ofObject(value as object);
}

/** Entries that are short together are one text. */
function* ofList(list: readonly unknown[]): Generator<string> {
  let before = '[';
  for (let at = 0; at < list.length; ) {
    const from = at;
    for (let room = PIECE_LENGTH; at < list.length; at += 1) {
      room = roomAfter(list[at], room);
      if (room < 0) break;
    }
    // Apart, for a text that is put behind another is copied.
    yield before;
    if (at > from) yield JSON.stringify(list.slice(from, at)).slice(1, -1);
    else {
      yield* longTexts(list[at]);
      at += 1;
    }
    before = ',';
  }
  yield list.length === 0 ? '[]' : ']';
}

/** Members that are short together are one text. */
function* ofObject(value: object): Generator<string> {
  let text = '{';
  let before = '';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  for (const [key, member] of members) {
    text += `${before}${JSON.stringify(key)}:`;
    before = ',';
    // Not measured again: the only member of what is long, and lists, which measure their entries. So are most responses.
    const isOnly = members.length === 1 && key.length < PIECE_LENGTH / 2;
    const isLong = isOnly || (Array.isArray(member) && member.length > SAMPLE) || !isShort(member);
    if (!isLong) text += JSON.stringify(member);
    else {
      yield text;
      text = '';
      yield* longTexts(member);
    }
    if (text.length < PIECE_LENGTH) continue;
    yield text;
    text = '';
  }
  yield `${text}}`;
}

function* ofString(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_LENGTH;
    // A pair of surrogates is one character, and is escaped if it is cut.
    const isCut = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const next = isCut ? end + 1 : end;
    yield JSON.stringify(text.slice(at, next)).slice(1, -1);
    at = next;
  }
  yield '"';
}

const isShort = (value: unknown): boolean => roomAfter(value, PIECE_LENGTH) >= 0;

/** What is left of a length after a value, roughly; less than 0 if it does not fit. Looks no further than that. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (typeof value !== 'object' || value === null) return room - 5;
  if (Array.isArray(value)) {
    let left = room - 2;
    for (let at = 0; at < value.length && left >= 0; at += 1) {
      left = roomAfter(value[at], left - 1);
      // Its entries are measured where they are written. One that looks longer than it is is only written in pieces.
      if (at === SAMPLE && (room - left) * (value.length / SAMPLE) > 2 * room) return -1;
    }
    return left;
  }
  // A date, for one.
  if ('toJSON' in value) return room - 30;
  let left = room - 2;
  for (const key in value) {
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length - 4);
    if (left < 0) break;
  }
  return left;
}
