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
