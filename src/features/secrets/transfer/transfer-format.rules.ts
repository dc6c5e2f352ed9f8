import type { z } from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { violationsOf } from '../../../kernel/validation.js';
import { NewSecret } from '../core/secret.rules.js';

/** Maximum number of secrets in one file. */
const MAX_ENTRIES = 1_000;

/** A secret in a file. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  /** The comment lines right above it; undefined for none, and in formats without comments. */
  readonly comment?: string | undefined;
  /** Line of its key, from 1. */
  readonly line: number;
  /** Its number in the file, from 1, in formats that may have many on one line. */
  readonly entry?: number | undefined;
  /** What other readers of the format would make of it. */
  readonly warnings?: readonly Warning[];
}

/** Why a warning is given. */
export type WarningReason = 'VARIABLE' | 'NOT_FOR_SHELL';

/** A difference between this reader of a format and others. Contains no text of the file. */
export interface Warning {
  readonly reason: WarningReason;
  readonly message: string;
}

/**
 * A violation at a position of a file. Contains no text of the file but identifiers before a `=`: anything else may be a
 * misplaced value.
 */
export interface FormatError extends Pick<Entry, 'line' | 'entry'>, Pick<ErrorDetail, 'code' | 'message'> {}

/** The entries of a file, and all its violations. With violations the entries must not be used. */
export interface ParsedFile {
  readonly entries: readonly Entry[];
  readonly violations: readonly FormatError[];
}

/** A secret to write into a file. */
export interface PrintableEntry extends Pick<Entry, 'key' | 'value' | 'comment'> {
  /** Whether `${` in the value is text and not a reference. */
  readonly isFinal?: boolean;
}

/** The part of an entry that a format cannot represent. */
export interface Inexpressible {
  readonly index: number;
  readonly part: 'secretKey' | 'secretValue';
}

/** A file, or what cannot be written into it. */
export type PrintedFile =
  | { readonly text: string; readonly inexpressible?: undefined }
  | { readonly inexpressible: readonly Inexpressible[] };

/** A text format of secrets. */
export interface TransferFormat {
  readonly parse: (text: string) => ParsedFile;
  readonly print: (entries: readonly PrintableEntry[]) => PrintedFile;
  /** A file in a format that has entries. */
  readonly join: (files: readonly string[]) => string;
}

/**
 * Validates what a format parsed against the rules of secrets: keys and values as in a creation, no duplicate keys, not
 * too many.
 *
 * @param read what the format finds in a file, in its order; no more is requested than is allowed
 */
export function checkedFile(read: Iterable<Entry | FormatError>): ParsedFile {
  const keys = new Set<string>();
  const entries: Entry[] = [];
  const violations: FormatError[] = [];
  let count = 0;
  for (const found of read) {
    count += 1;
    const isEntry = 'value' in found;
    if (count > MAX_ENTRIES) {
      violations.push(isEntry ? { line: found.line, ...TOO_MANY } : found);
      break;
    }
    if (isEntry) {
      // The same as the rule of keys, which takes ` A` and `A` for one key.
      const entry = { ...found, key: found.key.trim() };
      violations.push(...violationsOfEntry(entry));
      if (keys.has(entry.key)) violations.push({ line: entry.line, entry: entry.entry, ...DUPLICATE });
      keys.add(entry.key);
      entries.push(entry);
    } else violations.push(found);
  }
  return { entries, violations };
}

const TOO_MANY = { code: 'TOO_MANY', message: `exceeds the limit of ${MAX_ENTRIES} secrets` } as const;
const DUPLICATE = { code: 'DUPLICATE', message: 'is a duplicate in this file' } as const;

const { secretKey, secretValue, secretComment } = NewSecret.shape;

/** One violation per part: a text that is too long is reported once, in characters or in bytes. */
function violationsOfEntry({ key, value, comment, line, entry }: Entry): FormatError[] {
  const broken = (part: string, rules: z.ZodType, input: unknown): FormatError[] => {
    const { error } = rules.safeParse(input);
    const [first] = error === undefined ? [] : violationsOf(error);
    return first === undefined ? [] : [{ line, entry, code: first.code, message: `the ${part} ${first.message}` }];
  };
  return [
    ...broken('key', secretKey, key),
    ...broken('value', secretValue, value),
    ...broken('comment above it', secretComment, comment),
  ];
}

/** `# text` -> `text`: drops one blank after the `#`. */
export const commentText = (line: string): string => line.replace(/^\s*# ?/, '');

/**
 * A comment as lines of a file. Everything that some reader takes for a line end is one: no part may become a secret.
 */
export const commentLines = (comment: string | undefined): string[] =>
  comment === undefined || comment === ''
    ? []
    : comment.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/).map((line) => (line === '' ? '#' : `# ${line}`));
