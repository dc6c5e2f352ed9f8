import * as z from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import { pathOf } from '../../../kernel/validation.js';
import { secretLocation } from '../scope/location.rules.js';
import { dotenvFormat } from './dotenv-format.rules.js';
import { jsonFormat } from './json-format.rules.js';
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

/** Formats of a file of secrets. */
export const fileFormat = z.enum(['dotenv', 'json', 'yaml']);
export type FileFormat = z.infer<typeof fileFormat>;

const FORMATS: Readonly<Record<FileFormat, TransferFormat>> = {
  dotenv: dotenvFormat,
  json: jsonFormat,
  yaml: yamlFormat,
};

/** What an import does with a secret of the file that the folder already has. */
export const importMode = z.enum(['create-only', 'overwrite', 'skip-existing']);
export type ImportMode = z.infer<typeof importMode>;

/** Outcome for a secret of a file. */
export type ImportOutcome = 'created' | 'changed' | 'unchanged' | 'skipped';

/** Input of `importSecrets`. The format validates the content. */
export const ImportSecrets = z
  .strictObject({
    ...secretLocation,
    format: fileFormat.meta({ description: 'Format of the content.' }),
    content: z
      .string()
      .max(MAX_CONTENT_BYTES)
      .refine((content) => Buffer.byteLength(content) <= MAX_CONTENT_BYTES, { error: 'must be at most 1 MiB of UTF-8' })
      .meta({
        description:
          'Content of the file: up to 1,000 secrets and 1 MiB. Errors refer to its lines, for example `content[3]`. In ' +
          '.env and YAML files the comment lines right above a secret become its comment. Lines of .env files that common ' +
          'readers read differently are refused.',
      }),
    mode: importMode.default('create-only').meta({
      description: 'What to do with secrets that the folder already has.',
    }),
    dryRun: z.boolean().default(false).meta({
      description: 'Whether to validate the file and preview the outcome for each secret without changing anything.',
    }),
  })
  .meta({ description: 'The file and the folder to import it into. Either all secrets are imported or none.' });

/** Arguments of `exportSecrets`. */
export const ExportSecrets = z.strictObject({
  ...secretLocation,
  format: fileFormat.meta({ description: 'Format of the file.' }),
  expandSecretReferences: z.boolean().default(false).meta({
    description: 'Whether to replace references by the values that they name.',
  }),
  includeImports: z.boolean().default(false).meta({
    description:
      'Whether to add the secrets that the folder imports. For each key the file has the secret that `secretByKey` returns.',
  }),
  includeComments: z.boolean().default(false).meta({
    description: 'Whether to write the comments of secrets as lines above them. JSON files have no comments.',
  }),
});

/** The entries of a file. */
export const parseFile = (name: FileFormat, content: string): ParsedFile => FORMATS[name].parse(content);

/** A file of these secrets, in their order. Yields to other requests between parts. */
export async function printFile(name: FileFormat, entries: readonly PrintableEntry[]): Promise<PrintedFile> {
  const format = FORMATS[name];
  if (entries.length <= PRINTED_AT_ONCE) return format.print(entries);
  const texts: string[] = [];
  const inexpressible: Inexpressible[] = [];
  for (let at = 0; at < entries.length; at += PRINTED_AT_ONCE) {
    await yieldToEventLoop();
    const part = format.print(entries.slice(at, at + PRINTED_AT_ONCE));
    if (part.inexpressible === undefined) texts.push(part.text);
    else inexpressible.push(...part.inexpressible.map(({ index, ...rest }) => ({ index: index + at, ...rest })));
  }
  return inexpressible.length > 0 ? { inexpressible } : { text: format.join(texts) };
}

/**
 * Position of an entry in a file: its line, from 1, and, where a line may have several, its number in the file:
 * `content[3].entry[5]`.
 */
export const positionInFile = ({ line, entry }: Pick<Entry, 'line' | 'entry'>): string =>
  pathOf(['content', line, ...(entry === undefined ? [] : ['entry', entry])]);

/** The violations of a file, for the details of an error. */
export const fileViolations = ({ violations }: ParsedFile): ErrorDetail[] =>
  violations.map(({ code, message, ...place }) => ({ path: positionInFile(place), code, message }));

/**
 * The effective secret of each key, ordered by key.
 *
 * @param lists folders in lookup order; in each, a personal value comes after the shared one
 */
export function effectiveSecrets<S extends { readonly secretKey: string }>(lists: readonly (readonly S[])[]): S[] {
  const effective = new Map<string, S>();
  for (const list of lists.toReversed()) for (const secret of list) effective.set(secret.secretKey, secret);
  // By bytes, as Postgres orders keys: UTF-16 has another order.
  const byBytes = [...effective.values()].map((secret) => ({ secret, bytes: Buffer.from(secret.secretKey) }));
  return byBytes.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ secret }) => secret);
}

/**
 * What a format cannot represent of a list of secrets, for the details of an error: by position, from 0. Keys are named if
 * they are words; the caller may read all of them.
 */
export const inexpressibleViolations = (
  found: readonly Inexpressible[],
  secrets: readonly { readonly secretKey: string }[],
): ErrorDetail[] =>
  found.map(({ index, part }) => {
    const key = secrets[index]?.secretKey ?? '';
    const subject = /^[\w.-]+$/.test(key) ? `the ${part === 'secretKey' ? 'key' : 'value'} of \`${key}\` ` : '';
    return {
      path: `secrets[${index}].${part}`,
      code: 'NOT_EXPRESSIBLE',
      message: `${subject}cannot be written so that all readers of this format read the same; use JSON or YAML`,
    };
  });

/** Number of secrets of a file per outcome. */
export const countOutcomes = (outcomes: readonly ImportOutcome[]): Readonly<Record<ImportOutcome, number>> => {
  const counts = { created: 0, changed: 0, unchanged: 0, skipped: 0 };
  for (const outcome of outcomes) counts[outcome] += 1;
  return counts;
};
