/**
 * Texts that a query matches, in database terms: an exact text, or a range that an index finds and a pattern that
 * filters the range. Null fields do not narrow.
 */
export interface TextMatch {
  readonly equals: string | null;
  /** At or after this text, by code points. */
  readonly from: string | null;
  /** Before this text, by code points. */
  readonly below: string | null;
  /** LIKE pattern, with backslash as its escape. */
  readonly like: string | null;
}

const ANY: TextMatch = { equals: null, from: null, below: null, like: null };

/** Exactly this text. */
export const matchEqual = (text: string): TextMatch => ({ ...ANY, equals: text });

/** Texts that start with this one. */
export const matchPrefix = (prefix: string): TextMatch =>
  prefix === '' ? ANY : { ...ANY, from: prefix, below: successorOf(prefix) };

/**
 * Texts that match a glob: `*` matches any characters, slashes too, and `?` matches exactly one. There are no other
 * special characters and there is no escape: to match these two literally, use an exact text or a prefix.
 */
export function matchGlob(glob: string): TextMatch {
  const at = glob.search(/[*?]/);
  if (at === -1) return matchEqual(glob);
  const range = matchPrefix(glob.slice(0, at));
  return /^\*+$/.test(glob.slice(at)) ? range : { ...range, like: likePattern(glob) };
}

/** The LIKE pattern that matches the same texts as a glob. */
export const likePattern = (glob: string): string =>
  glob
    .replace(/[\\%_]/g, '\\$&')
    .replace(/\*+/g, '%')
    .replaceAll('?', '_');

const LAST = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 };

/** The first text, by code points, that sorts after all texts with this prefix; null when there is none. */
function successorOf(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  const next = last + 1 === SURROGATES.first ? SURROGATES.after : last + 1;
  return String.fromCodePoint(...points, next);
}
