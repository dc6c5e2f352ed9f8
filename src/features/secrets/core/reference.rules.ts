const MAX_ENVIRONMENT = 64;
const MAX_PATH = 2_000;
const MAX_KEY = 255;

/**
 * All `$` of a row, and words of letters, digits, `-` and `_` in braces, separated by single dots. No part can match in
 * two ways, and no row of `$` is entered in its middle, so matching takes linear time.
 */
const REFERENCE = /(?<!\$)(\$+)(\{([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\})/g;
const WORD = /^[A-Za-z0-9_-]+$/;

/** The secret that a reference names. */
export interface ReferenceTarget {
  /**
   * Slug of the environment; null, like the path, for the location of the secret whose value contains the reference.
   */
  readonly environment: string | null;
  readonly path: string | null;
  readonly key: string;
}

/** A reference as written in a value. Equal targets have equal texts. */
export interface Reference extends ReferenceTarget {
  readonly text: string;
}

/** Text that is written in another way: `$$` stands for `$`. */
export interface Escape {
  readonly written: string;
  readonly stands: string;
}

/** A value in pieces, in their order: plain text, escapes and references. */
export interface ParsedValue {
  readonly pieces: readonly (string | Escape | Reference)[];
  /** Each once, in the order of their first occurrence. */
  readonly references: readonly Reference[];
}

/**
 * Finds the references of a value: `${KEY}` names a secret of the same folder, `${env.KEY}` one of the root folder of
 * an environment, `${env.folder.sub.KEY}` one of a folder below. Everything else is plain text, also names that are
 * longer than a name can be.
 *
 * Before `{KEY}`, each `$$` stands for one `$`: `$${KEY}` is the text `${KEY}`, and `$$${KEY}` is `$` and a reference.
 */
export function parseReferences(value: string): ParsedValue {
  if (!value.includes('${')) return { pieces: value === '' ? [] : [value], references: [] };
  const pieces: (string | Escape | Reference)[] = [];
  const references = new Map<string, Reference>();
  let at = 0;
  for (const match of value.matchAll(REFERENCE)) {
    const [whole, dollars, braced, inner] = match as unknown as [string, string, string, string];
    const text = `$${braced}`;
    const reference = references.get(text) ?? toReference(text, inner);
    if (reference === null) continue;
    if (match.index > at) pieces.push(value.slice(at, match.index));
    const stands = '$'.repeat(dollars.length / 2);
    if (dollars.length % 2 === 0) pieces.push({ written: whole, stands: stands + braced });
    else {
      if (stands !== '') pieces.push({ written: stands + stands, stands });
      references.set(text, reference);
      pieces.push(reference);
    }
    at = match.index + whole.length;
  }
  if (at < value.length) pieces.push(value.slice(at));
  return { pieces, references: [...references.values()] };
}

function toReference(text: string, inner: string): Reference | null {
  const words = inner.split('.');
  const key = words.pop() as string;
  const [environment = null, ...names] = words;
  const path = environment === null ? null : `/${names.join('/')}`;
  const isTooLong =
    key.length > MAX_KEY || (environment?.length ?? 0) > MAX_ENVIRONMENT || (path?.length ?? 0) > MAX_PATH;
  return isTooLong ? null : { environment, path, key, text };
}

/** The text that `parseReferences` parses back to this target. */
export function printReference({ environment, path, key }: ReferenceTarget): string {
  const place = environment === null ? [] : [environment, ...(path ?? '/').split('/').filter((name) => name !== '')];
  return `\${${[...place, key].join('.')}}`;
}

/** True when a reference can name a secret with this key: a dot or a blank in a key would be parsed differently. */
export const isReferenceable = (key: string): boolean => key.length <= MAX_KEY && WORD.test(key);

/** The new target of a reference; null keeps it. */
export type Rename = (reference: Reference) => ReferenceTarget | null;

/**
 * The value with some of its references changed.
 *
 * @param maxBytes maximum size of the new value, in bytes of UTF-8
 * @returns null when it would become larger: it is not built, since it could have any length
 */
export function rewriteReferences(
  value: string,
  rename: Rename,
  maxBytes: number = Number.POSITIVE_INFINITY,
): string | null {
  const { pieces, references } = parseReferences(value);
  const changed = new Map(
    references.flatMap((reference) => {
      const after = rename(reference);
      return after === null ? [] : [[reference.text, printReference(after)] as const];
    }),
  );
  if (changed.size === 0) return value;
  const after = (piece: string | Escape | Reference): string => {
    if (typeof piece === 'string') return piece;
    return 'written' in piece ? piece.written : (changed.get(piece.text) ?? piece.text);
  };
  const before = Buffer.byteLength(value);
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(after(piece));
  return bytes > maxBytes && bytes > before ? null : pieces.map(after).join('');
}
