import * as z from 'zod';

/** One required pair. All pairs of a filter must match exactly, among the unencrypted entries of a secret. */
export interface MetadataPair {
  readonly key: string;
  readonly value: string;
}

/** The violation and the index of its pair, from 0. */
interface MalformedPair {
  readonly index: number;
  readonly reason: string;
}

const MAX_PAIRS = 10;
const MAX_KEY = 255;
const MAX_VALUE = 1_020;

/** A character of the filter; an escaped one has no special meaning. */
interface Character {
  readonly text: string;
  readonly isEscaped: boolean;
}

class Malformed extends Error {}

/**
 * Parses `key=K,value=V|key=K,value=V`. The words `key` and `value` are accepted in either order and any case;
 * whitespace around words and texts is dropped. Inside K and V a backslash before `,` `=` `|` `\` or a blank makes it
 * an ordinary character. A blank text is no filter.
 */
export function parseMetadataFilter(raw: string): { pairs: MetadataPair[]; malformed: MalformedPair[] } {
  if (raw.trim() === '') return { pairs: [], malformed: [] };
  const pairs: MetadataPair[] = [];
  const malformed: MalformedPair[] = [];
  for (const [index, part] of split(characters(raw), '|').entries()) {
    try {
      pairs.push(parsePair(part));
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      malformed.push({ index, reason: error.message });
    }
  }
  if (pairs.length + malformed.length > MAX_PAIRS)
    malformed.push({ index: MAX_PAIRS, reason: 'exceeds the limit of 10 pairs' });
  return { pairs, malformed };
}

/** A pair of a filter in the form of GraphQL. */
export const MetadataFilter = z
  .strictObject({
    key: z.string().min(1).max(MAX_KEY).meta({ description: 'Exact key of the pair, for example `owner`.' }),
    value: z.string().max(MAX_VALUE).meta({ description: 'Exact value of the pair, for example `payments-team`.' }),
  })
  .meta({ description: 'A metadata pair that a secret must have. Only unencrypted metadata is searched.' });

/** The pairs of a filter in the form of GraphQL. */
export const metadataPairs = z.array(MetadataFilter).max(MAX_PAIRS);

function characters(raw: string): Character[] {
  const found: Character[] = [];
  let isEscaped = false;
  for (const text of raw) {
    if (!isEscaped && text === '\\') {
      isEscaped = true;
      continue;
    }
    // The backslash is kept: the pair that contains it is reported as malformed.
    found.push(isEscaped && !/[\\,=|\s]/u.test(text) ? { text: `\\${text}`, isEscaped: true } : { text, isEscaped });
    isEscaped = false;
  }
  if (isEscaped) found.push({ text: '\\?', isEscaped: true });
  return found;
}

function split(from: readonly Character[], separator: string): Character[][] {
  const parts: Character[][] = [[]];
  for (const character of from) {
    if (!character.isEscaped && character.text === separator) parts.push([]);
    else parts.at(-1)?.push(character);
  }
  return parts;
}

function parsePair(part: readonly Character[]): MetadataPair {
  if (part.some(({ text }) => text.length > 1 && text.startsWith('\\'))) {
    throw new Malformed('has a backslash before a character that needs no escape');
  }
  const found = new Map<string, string>();
  for (const assignment of split(part, ',')) {
    const [word, text, ...rest] = split(assignment, '=').map(trimmed);
    if (text === undefined || rest.length > 0)
      throw new Malformed('must be key=..., value=..., with a literal = written as \\=');
    const name = (word as string).toLowerCase();
    if (name !== 'key' && name !== 'value') throw new Malformed('must contain only key and value');
    if (found.has(name)) throw new Malformed(`repeats ${name}`);
    found.set(name, text);
  }
  const [key, value] = [found.get('key'), found.get('value')];
  if (!key || !value) throw new Malformed('must have a key and a value that are not empty');
  if (key.length > MAX_KEY || value.length > MAX_VALUE) throw new Malformed('exceeds the maximum length of metadata');
  return { key, value };
}

/** Trims whitespace; escaped blanks stay. */
function trimmed(from: readonly Character[]): string {
  const isBlank = ({ text, isEscaped }: Character): boolean => !isEscaped && text.trim() === '';
  const start = from.findIndex((character) => !isBlank(character));
  if (start === -1) return '';
  const end = from.findLastIndex((character) => !isBlank(character));
  return from
    .slice(start, end + 1)
    .map(({ text }) => text)
    .join('');
}
