import { suggestionList } from 'graphql/jsutils/suggestionList.js';

/** No known name is as long: a longer one is no misspelt one. */
const MAX_LENGTH = 64;

/**
 * `; did you mean slug?`, for a name that nobody knows but that is near to a known one; else nothing. It says the known name,
 * never the one that was sent, which may be a password in the wrong place. Source: reliability P17.
 */
export function didYouMean(sent: string, known: readonly string[]): string {
  const [nearest] = sent.length > MAX_LENGTH ? [] : suggestionList(sent, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** True for equal texts, and for one letter added, dropped, changed, or two neighbours swapped. */
export function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return Math.max(left.length, right.length) <= 1 || (left.length === 2 && left === [...right].reverse().join(''));
}
