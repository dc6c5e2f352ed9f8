import type { z } from 'zod';
import type { ErrorDetail } from '../../kernel/errors.js';
import { faultsOf } from '../../kernel/validation.js';
import { NewSecret } from './secret.rules.js';

/** Secrets that one file may hold. */
export const MAX_ENTRIES = 1_000;

/** A secret as a file has it. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  /** What the lines right above it say; undefined for none, and in formats without comments. */
  readonly comment?: string | undefined;
  /** Where its key stands, from 1. */
  readonly line: number;
  /** Its number in the file, from 1, in formats that may have many on one line. */
  readonly entry?: number | undefined;
}

/** What is wrong at a place of a file. It has none of the file's text: a key may be a value in the wrong place. */
export interface FormatFault extends Pick<Entry, 'line' | 'entry'>, Pick<ErrorDetail, 'code' | 'message'> {}

/** What a file holds, and everything that is wrong with it. With faults the entries are of no use. */
export interface ParsedFile {
  readonly entries: readonly Entry[];
  readonly faults: readonly FormatFault[];
}

/** A secret to write into a file. */
export type PrintableEntry = Omit<Entry, 'line' | 'entry'>;

/** What a format cannot hold of an entry. */
export interface Inexpressible {
  readonly index: number;
  readonly part: 'secretKey' | 'secretValue';
}

/** A file, or what cannot be written into it. */
export type PrintedFile =
  | { readonly text: string; readonly inexpressible?: undefined }
  | { readonly inexpressible: readonly Inexpressible[] };

/** A text form of secrets. */
export interface TransferFormat {
  readonly parse: (text: string) => ParsedFile;
  readonly print: (entries: readonly PrintableEntry[]) => PrintedFile;
  /** One file of files that have entries. */
  readonly join: (files: readonly string[]) => string;
}

/**
 * What a format read, under the rules of secrets: keys and values as when one is created, no key twice, not too many.
 *
 * @param read what the format finds in a file, in its order; no more of it is asked for than may be there
 */
export function checkedFile(read: Iterable<Entry | FormatFault>): ParsedFile {
  const keys = new Set<string>();
  const entries: Entry[] = [];
  const faults: FormatFault[] = [];
  let count = 0;
  for (const found of read) {
    count += 1;
    const isEntry = 'value' in found;
    if (count > MAX_ENTRIES) {
      faults.push(isEntry ? { line: found.line, ...TOO_MANY } : found);
      break;
    }
    if (isEntry) {
      // As the rule of keys does it, which takes ` A` and `A` for one.
      const entry = { ...found, key: found.key.trim() };
      faults.push(...faultsOfEntry(entry));
      if (keys.has(entry.key)) faults.push({ line: entry.line, entry: entry.entry, ...DUPLICATE });
      keys.add(entry.key);
      entries.push(entry);
    } else faults.push(found);
  }
  return { entries, faults };
}

const TOO_MANY = { code: 'TOO_MANY', message: `must not be there: a file has at most ${MAX_ENTRIES} secrets` } as const;
const DUPLICATE = { code: 'DUPLICATE', message: 'is named twice in this file' } as const;

const { secretKey, secretValue, secretComment } = NewSecret.shape;

/** One fault of each part: a text that is too long is told once, in characters or in bytes. */
function faultsOfEntry({ key, value, comment, line, entry }: Entry): FormatFault[] {
  const broken = (part: string, rules: z.ZodType, input: unknown): FormatFault[] => {
    const { error } = rules.safeParse(input);
    const [first] = error === undefined ? [] : faultsOf(error);
    return first === undefined ? [] : [{ line, entry, code: first.code, message: `the ${part} ${first.message}` }];
  };
  return [
    ...broken('key', secretKey, key),
    ...broken('value', secretValue, value),
    ...broken('comment above it', secretComment, comment),
  ];
}

/** `# text` -> `text`: one blank after the sign belongs to it. */
export const commentText = (line: string): string => line.replace(/^\s*# ?/, '');

/** A comment as lines of a file. Whatever some reader takes for the end of a line is one: none of it may become a secret. */
export const commentLines = (comment: string | undefined): string[] =>
  comment === undefined || comment === ''
    ? []
    : comment.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/).map((line) => (line === '' ? '#' : `# ${line}`));
