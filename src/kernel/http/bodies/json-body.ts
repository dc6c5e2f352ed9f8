import { AppError } from '../../errors.js';

/** Deeper than any request of ours, and far from where something that walks a value would run out of stack. */
const MAX_DEPTH = 64;
/** Keys that one object may have without counting as entries: more than any input has fields. */
const FREE_KEYS = 32;

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, COMMA] = Buffer.from(
  '"\\[]{},',
) as Iterable<number>;

/**
 * Counts the entries of a JSON text without parsing it: its objects and arrays, the other items of arrays, and the keys of an
 * object beyond the first 32. One pass over the bytes; bytes of characters beyond ASCII are never taken for anything else.
 *
 * Counted before the body is parsed, since what comes after costs thousands of times as much for each entry.
 *
 * @param limit where counting stops
 * @returns how many; a number of no meaning for a text that is not JSON
 * @throws MALFORMED_JSON for more than 64 levels, BODY_TOO_LARGE for more entries than the limit
 */
export function countEntries(bytes: Uint8Array, limit: number): number {
  const commas = new Uint32Array(MAX_DEPTH + 1);
  const arrays = new Uint8Array(MAX_DEPTH + 1);
  let depth = 0;
  let entries = 0;
  let isAfterContainer = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (depth === MAX_DEPTH) throw tooDeep();
      depth += 1;
      entries += 1;
      arrays[depth] = Number(byte === OPEN_ARRAY);
      commas[depth] = 0;
      isAfterContainer = false;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (depth > 0) depth -= 1;
      isAfterContainer = true;
    } else if (byte === COMMA) {
      const keys = (commas[depth] as number) + 1;
      commas[depth] = keys;
      // Items that are objects or arrays have been counted.
      if (!isAfterContainer && (arrays[depth] === 1 || keys >= FREE_KEYS)) entries += 1;
      isAfterContainer = false;
    }
    if (entries > limit) throw tooManyEntries(limit);
  }
  return entries;
}

/** The place of the quote that ends a string, or the last byte. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return bytes.length;
}

const tooDeep = (): AppError =>
  new AppError('MALFORMED_JSON', `The body is nested more than ${MAX_DEPTH} levels deep.`);
const tooManyEntries = (limit: number): AppError =>
  new AppError(
    'BODY_TOO_LARGE',
    `The body has more than ${limit} entries in its lists and objects. Split the request.`,
  );

/**
 * The value of a JSON text in UTF-8, with or without a byte order mark. If an object repeats a key, the last one wins, as
 * everywhere in JavaScript; nothing else reads the text, so that nobody can understand it otherwise.
 *
 * @param bytes whose entries have been counted
 * @returns undefined for no bytes: whether a body is required is the route's rule
 * @throws MALFORMED_JSON also for invalid UTF-8
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new AppError('MALFORMED_JSON');
  }
}
