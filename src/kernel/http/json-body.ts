import { AppError } from '../errors.js';

/** Deeper than any request of ours, and far from where something that walks a value would run out of stack. */
const MAX_DEPTH = 100;

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from(
  '"\\[]{}',
) as Iterable<number>;

/**
 * The value of a JSON body in UTF-8, with or without a byte order mark. Of keys that an object has twice the last one counts,
 * as everywhere in JavaScript; nothing else reads the body, so that nobody can understand it otherwise.
 *
 * @returns undefined for no bytes: whether a body is needed is the route's rule
 * @throws MALFORMED_JSON also for invalid UTF-8, and for more than 100 levels
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (isDeeperThan(MAX_DEPTH, bytes))
    throw new AppError('MALFORMED_JSON', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new AppError('MALFORMED_JSON');
  }
}

/** Counts brackets outside of texts. Bytes of characters beyond ASCII are never taken for one. */
function isDeeperThan(limit: number, bytes: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
