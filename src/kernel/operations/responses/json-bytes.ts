import { yieldToEventLoop } from '../../event-loop.js';

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
  for (const text of texts(value)) {
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

/** The JSON of a value in texts that are not much longer than a piece. Undefined members are left out. */
function* texts(value: unknown): Generator<string> {
  // Measures its entries itself.
  if (Array.isArray(value)) yield* ofList(value);
  else if (isShort(value)) yield JSON.stringify(value);
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
      yield* texts(list[at] ?? null);
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
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    text += `${before}${JSON.stringify(key)}:`;
    before = ',';
    if (isShort(member)) text += JSON.stringify(member);
    else {
      yield text;
      text = '';
      yield* texts(member);
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
