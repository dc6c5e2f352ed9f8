/**
 * Texts that a question is about, in the words of the database: an exact one, or a range that an index finds and a pattern
 * that checks what is in it. What is null does not narrow.
 */
export interface TextMatch {
  readonly equals: string | null;
  /** Not before this text, by code points. */
  readonly from: string | null;
  /** Before this text, by code points. */
  readonly below: string | null;
  /** Pattern of LIKE, with backslash as its escape. */
  readonly like: string | null;
}

const ANY: TextMatch = { equals: null, from: null, below: null, like: null };

/** Only this text. */
export const matchEqual = (text: string): TextMatch => ({ ...ANY, equals: text });

/** Texts that start with this one. */
export const matchPrefix = (prefix: string): TextMatch =>
  prefix === '' ? ANY : { ...ANY, from: prefix, below: successorOf(prefix) };

/**
 * Texts that fit a glob: `*` stands for any characters, slashes too, and `?` for exactly one. Nothing else has a meaning of its
 * own, and nothing takes that of these two away: who looks for them literally asks for an exact text or a prefix.
 */
export function matchGlob(glob: string): TextMatch {
  const at = glob.search(/[*?]/);
  if (at === -1) return matchEqual(glob);
  const range = matchPrefix(glob.slice(0, at));
  return /^\*+$/.test(glob.slice(at)) ? range : { ...range, like: likePattern(glob) };
}

/** The pattern of LIKE that fits the same texts as a glob. */
export const likePattern = (glob: string): string =>
  glob
    .replace(/[\\%_]/g, '\\$&')
    .replace(/\*+/g, '%')
    .replaceAll('?', '_');

const LAST = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 };

/** The first text, by code points, that is behind all with this prefix; null when there is none. */
function successorOf(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  const next = last + 1 === SURROGATES.first ? SURROGATES.after : last + 1;
  return String.fromCodePoint(...points, next);
}
