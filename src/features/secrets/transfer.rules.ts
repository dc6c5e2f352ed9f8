import { z } from 'zod';
import type { ErrorDetail } from '../../kernel/errors.js';
import { giveWay } from '../../kernel/slices.js';
import { pathOf } from '../../kernel/validation.js';
import { dotenvFormat } from './dotenv-format.rules.js';
import { jsonFormat } from './json-format.rules.js';
import { place } from './place.rules.js';
import type {
  Entry,
  Inexpressible,
  ParsedFile,
  PrintableEntry,
  PrintedFile,
  TransferFormat,
} from './transfer-format.rules.js';
import { yamlFormat } from './yaml-format.rules.js';

const PRINTED_AT_ONCE = 100;
const MAX_CONTENT_BYTES = 1024 * 1024;

/** Forms of a file of secrets. */
export const FILE_FORMATS = ['dotenv', 'json', 'yaml'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

const FORMATS: Readonly<Record<FileFormat, TransferFormat>> = {
  dotenv: dotenvFormat,
  json: jsonFormat,
  yaml: yamlFormat,
};

/** What a secret of the folder that the file names as well does to the import. */
export const IMPORT_MODES = ['create-only', 'overwrite', 'skip-existing'] as const;
export type ImportMode = (typeof IMPORT_MODES)[number];

/** What becomes of a secret of a file. */
export const IMPORT_OUTCOMES = ['created', 'changed', 'unchanged', 'skipped'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

/** The form of a file. Its enum in GraphQL stands beside the types, as that of the mode does. */
export const fileFormat = z.enum(FILE_FORMATS);
export const importMode = z.enum(IMPORT_MODES);

/** Input of `importSecrets`. What the content must be is the matter of its format. */
export const ImportSecrets = z
  .strictObject({
    ...place,
    format: fileFormat.meta({ description: 'The form of the content.' }),
    content: z
      .string()
      .max(MAX_CONTENT_BYTES)
      .refine((content) => content.isWellFormed(), { error: 'must be well-formed text' })
      .refine((content) => Buffer.byteLength(content) <= MAX_CONTENT_BYTES, { error: 'must be at most 1 MiB of UTF-8' })
      .meta({
        description:
          'The file: up to 1,000 secrets and 1 MiB. Errors name its lines, as `content[3]`. In .env and YAML files the lines right above a secret are its comment.',
      }),
    mode: importMode.default('create-only').meta({
      description: 'What becomes of secrets of the folder that the file names as well.',
    }),
    dryRun: z.boolean().default(false).meta({
      description: 'Check everything, report what would become of each secret, and change nothing.',
    }),
  })
  .meta({ description: 'A file of secrets and the folder that takes them: all or none.' });

/** Arguments of `exportSecrets`. */
export const ExportSecrets = z.strictObject({
  ...place,
  format: fileFormat.meta({ description: 'The form of the file.' }),
  expandSecretReferences: z.boolean().default(false).meta({
    description: 'Put the values that references name in their places.',
  }),
  includeImports: z.boolean().default(false).meta({
    description: 'Add what the folder imports: for each key the secret that `secretByKey` answers.',
  }),
  includeComments: z.boolean().default(false).meta({
    description: 'Add the comments of secrets as lines above them. JSON has no place for them.',
  }),
});

/** What a file holds. */
export const parseFile = (name: FileFormat, content: string): ParsedFile => FORMATS[name].parse(content);

/** A file of these secrets, in their order. Other requests run between parts of it. */
export async function printFile(name: FileFormat, entries: readonly PrintableEntry[]): Promise<PrintedFile> {
  const format = FORMATS[name];
  if (entries.length <= PRINTED_AT_ONCE) return format.print(entries);
  const texts: string[] = [];
  const inexpressible: Inexpressible[] = [];
  for (let at = 0; at < entries.length; at += PRINTED_AT_ONCE) {
    await giveWay();
    const part = format.print(entries.slice(at, at + PRINTED_AT_ONCE));
    if (part.inexpressible === undefined) texts.push(part.text);
    else inexpressible.push(...part.inexpressible.map(({ index, ...rest }) => ({ index: index + at, ...rest })));
  }
  return inexpressible.length > 0 ? { inexpressible } : { text: format.join(texts) };
}

/** Place of an entry in a file: its line, from 1, and, where that may hold many, its number in the file: `content[3].entry[5]`. */
export const placeInFile = ({ line, entry }: Pick<Entry, 'line' | 'entry'>): string =>
  pathOf(['content', line, ...(entry === undefined ? [] : ['entry', entry])]);

/** The faults of a file, as an error tells them. */
export const fileFaults = ({ faults }: ParsedFile): ErrorDetail[] =>
  faults.map(({ code, message, ...place }) => ({ path: placeInFile(place), code, message }));

/**
 * The secret that holds for each key, by key.
 *
 * @param lists folders in the order in which a key is looked for; in each, a user's own value comes behind the shared one
 */
export function effectiveSecrets<S extends { readonly secretKey: string }>(lists: readonly (readonly S[])[]): S[] {
  const effective = new Map<string, S>();
  for (const list of lists.toReversed()) for (const secret of list) effective.set(secret.secretKey, secret);
  // By bytes, as Postgres orders keys: UTF-16 has another order.
  const byBytes = [...effective.values()].map((secret) => ({ secret, bytes: Buffer.from(secret.secretKey) }));
  return byBytes.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ secret }) => secret);
}

/** What a format cannot hold of a list of secrets, as an error tells it: by position, from 0. */
export const inexpressibleFaults = (found: readonly Inexpressible[]): ErrorDetail[] =>
  found.map(({ index, part }) => ({
    path: `secrets[${index}].${part}`,
    code: 'NOT_EXPRESSIBLE',
    message: 'cannot be written in this format; JSON can hold it',
  }));

/** How many secrets of a file had each outcome. */
export const countOutcomes = (outcomes: readonly ImportOutcome[]): Readonly<Record<ImportOutcome, number>> => {
  const counts = { created: 0, changed: 0, unchanged: 0, skipped: 0 };
  for (const outcome of outcomes) counts[outcome] += 1;
  return counts;
};
