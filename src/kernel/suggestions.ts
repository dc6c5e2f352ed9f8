import { AppError, type ErrorCode, errorRow } from './errors.js';

/** No known name is as long: a longer one is no misspelt one. */
const MAX_LENGTH = 64;
/** What looks otherwise, or is longer, may be a secret in the wrong place. Safe in a header field, too. */
const IDENTIFIER = /^[A-Za-z_$][\w$-]{0,39}$/;
/** A shorter name is within two letters of too many others. */
const MIN_MISSPELT_LENGTH = 5;
const MAX_EDITS = 2;
/** Share of the letters that may differ in a name that is only suggested. */
const SUGGESTED_SHARE = 0.4;
const MAX_SUGGESTED_EDITS = 5;

/** True for a name that a caller sent and that a response may repeat: an identifier of at most 40 characters. Never a value. */
export const isNameable = (sent: string): boolean => IDENTIFIER.test(sent);

/** A name that a caller sent, as an error may repeat it. */
export const quoted = (sent: string): string =>
  isNameable(sent) ? `\`${sent}\`` : '(only identifiers of at most 40 characters are named)';

/** ``; did you mean `slug`?``, for a name that nobody knows but that is near to a known one; else nothing. */
export function didYouMean(sent: string, known: readonly string[]): string {
  const nearest = misspeltName(sent, known) ?? similarName(sent, known);
  return nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
}

/** The nearest known name of which four of ten letters, and one more, may differ, but no more than five. */
function similarName(sent: string, known: readonly string[]): string | undefined {
  if (sent.length > MAX_LENGTH) return undefined;
  const [lower, names] = [sent.toLowerCase(), known.map((name) => name.toLowerCase())];
  const most = Math.min(Math.floor(sent.length * SUGGESTED_SHARE) + 1, MAX_SUGGESTED_EDITS);
  return known[nearestOf(lower, names, most)];
}

/**
 * ``unknown field `projectNmae`; did you mean `projectName`?``
 *
 * @param noun what the name is of: `field`, `parameter`
 * @param known names of which one may be meant
 * @param said what is said in place of that
 */
export const unknownName = (noun: string, sent: string, known: readonly string[], said?: string): string =>
  `unknown ${noun} ${quoted(sent)}${said === undefined ? didYouMean(sent, known) : `; ${said}`}`;

/**
 * The known name that another one misspells: equal but for case, `_` and `-`; the same name with words before it, or without them
 * (`ttl`, `accessTokenTTL`); or at least five letters long and within two letters of it. Stricter than `didYouMean`, since it decides
 * whether a request is refused.
 */
export function misspeltName(sent: string, known: readonly string[]): string | undefined {
  if (sent.length > MAX_LENGTH) return undefined;
  const bare = withoutCase(sent);
  const same =
    known.find((name) => withoutCase(name) === bare) ?? known.find((name) => endsAlike(wordsOf(sent), wordsOf(name)));
  if (same !== undefined || sent.length < MIN_MISSPELT_LENGTH) return same;
  return known[nearestOf(sent, known, MAX_EDITS)];
}

/** A name of this length may be an abbreviation of another, or be abbreviated: `prod`. */
const MIN_ABBREVIATION = 3;

/** The stored name that a caller may have meant: misspelt, one letter off, or abbreviated. */
export function nearestName(sent: string, stored: readonly string[]): string | undefined {
  if (sent.length > MAX_LENGTH || sent.length < MIN_ABBREVIATION) return undefined;
  const isAbbreviated = (name: string) =>
    name.length >= MIN_ABBREVIATION && (name.startsWith(sent) || sent.startsWith(name));
  return misspeltName(sent, stored) ?? stored[nearestOf(sent, stored, 1)] ?? stored.find(isAbbreviated);
}

/**
 * The error of what does not exist, or what the caller cannot see: "The environment does not exist, or you cannot see it. Did you mean
 * `prod`?"
 *
 * @param visible a stored name that the caller may see; undefined if none is like the one that was sent
 */
export const notFoundBut = (code: ErrorCode, visible: string | undefined): AppError =>
  new AppError(code, visible === undefined ? undefined : `${errorRow(code).message} Did you mean \`${visible}\`?`);

/** The place of the first of the names that are the fewest edits away, up to a number of them; -1 where there is none. */
function nearestOf(sent: string, names: readonly string[], maxEdits: number): number {
  let [nearest, most] = [-1, maxEdits];
  for (const [at, name] of names.entries()) {
    const edits = editsBetween(sent, name, most);
    // The next one must be nearer.
    if (edits <= most) [nearest, most] = [at, edits - 1];
  }
  return nearest;
}

/** `accessTokenTTL` -> `["access", "token", "ttl"]`. */
const wordsOf = (name: string): string[] =>
  name
    .split(/[_-]|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

/** Words that end the names of many fields, or that clients send alone with another meaning. */
const COMMON_ENDINGS: ReadonlySet<string> = new Set(['id', 'ids', 'name', 'slug', 'metadata']);

/** Whether one list of words is the end of the other. */
function endsAlike(one: readonly string[], other: readonly string[]): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length === 0 || (short.length === 1 && COMMON_ENDINGS.has(short[0] as string))) return false;
  return short.length < long.length && short.every((word, at) => word === long[long.length - short.length + at]);
}

const withoutCase = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** True for equal texts, and for one letter added, dropped, changed, or two neighbours swapped. */
export const isOneEditApart = (a: string, b: string): boolean => editsBetween(a, b, 1) <= 1;

/** How many letters were added, dropped, changed or swapped with their neighbour; a larger number than `most` where it would be more. */
function editsBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const far = most + 1;
  const distances = (): number[] => new Array<number>(b.length + 1).fill(far);
  let [before, row, next] = [distances(), Array.from({ length: b.length + 1 }, (_, at) => at), distances()];
  for (let i = 1; i <= a.length; i += 1) {
    next[0] = i;
    let fewest = i;
    // Beyond these, as many letters are added or dropped.
    const [first, last] = [Math.max(1, i - most), Math.min(b.length, i + most)];
    if (first > 1) next[first - 1] = far;
    for (let j = first; j <= last; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = Math.min(
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
        (row[j - 1] as number) + Number(!isSame),
        isSwapped ? (before[j - 2] as number) + 1 : far,
      );
      next[j] = edits;
      fewest = Math.min(fewest, edits);
    }
    // They never become fewer from row to row.
    if (fewest > most) return far;
    [before, row, next] = [row, next, before];
  }
  return row[b.length] as number;
}
