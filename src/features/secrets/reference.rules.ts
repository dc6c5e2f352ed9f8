/** What a reference names. Both null: in the folder of the secret itself. */
export interface Reference {
  readonly environment: string | null;
  readonly path: string | null;
  readonly key: string;
}

/** A piece of a value: plain text, or a reference with the text that it stands as. */
export type Piece = { readonly text: string; readonly reference: Reference | null };

const NAME = '[A-Za-z0-9_-]+';
const REFERENCE = new RegExp(`\\$\\{(${NAME}(?:\\.${NAME})*)\\}`, 'g');
const WHOLE_NAME = new RegExp(`^${NAME}$`);

/** True when references can name this key. */
export const isReferenceable = (key: string): boolean => WHOLE_NAME.test(key);

/** `KEY`, `env.KEY`, `env.folder.sub.KEY`. */
function referenceOf(words: string): Reference {
  const names = words.split('.');
  const key = names.at(-1) as string;
  const [environment = null, ...folders] = names.slice(0, -1);
  return { environment, path: environment === null ? null : `/${folders.join('/')}`, key };
}

/** The text of a reference. */
export const printReference = ({ environment, path, key }: Reference): string =>
  `\${${[environment, ...(path ?? '').split('/'), key].filter((name) => name !== null && name !== '').join('.')}}`;

/** A value as a row of pieces; their texts together are the value. Source: decisions 5.5. */
export function parseReferences(value: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of value.matchAll(REFERENCE)) {
    if (match.index > end) pieces.push({ text: value.slice(end, match.index), reference: null });
    pieces.push({ text: match[0], reference: referenceOf(match[1] as string) });
    end = match.index + match[0].length;
  }
  if (end < value.length) pieces.push({ text: value.slice(end), reference: null });
  return pieces;
}

/** What a value refers to, each once, in the order of appearance. */
export function referencesIn(value: string): Reference[] {
  const found = new Map<string, Reference>();
  for (const [text, words] of value.matchAll(REFERENCE)) {
    const name = text as string;
    if (!found.has(name)) found.set(name, referenceOf(words as string));
  }
  return [...found.values()];
}

/** A value with other names in its references. @param rename null: the reference stays as it is */
export const rewriteReferences = (value: string, rename: (reference: Reference) => Reference | null): string =>
  value.replace(REFERENCE, (text, words: string) => {
    const renamed = rename(referenceOf(words));
    return renamed === null ? text : printReference(renamed);
  });
