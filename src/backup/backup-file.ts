import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import * as z from 'zod';
import { syncDirectory } from '../kernel/files.js';
import { TableDigest } from './tables.js';

/**
 * A backup is a gzip file of JSON lines: a header, for each table its name and columns and then its rows, and at the end a manifest of
 * what there must be.
 */
const VERSION = 1;
const LONGEST_LINE = 256 * 1024 * 1024;
const BATCH_LINES = 1_000;
const BATCH_LENGTH = 4 * 1024 * 1024;

const Header = z.strictObject({
  format: z.literal('strongroom-backup'),
  version: z.literal(VERSION),
  /** By the clock of the database. */
  createdAt: z.string(),
  migrations: z.array(z.string()),
  keyCheckValue: z.string(),
  organizationKeyIds: z.array(z.string()),
  /** `NUMBER:HASH` as the service logs it; null: nothing was sealed yet. */
  auditHead: z.string().nullable(),
  partitions: z.array(z.strictObject({ parent: z.string(), name: z.string(), bound: z.string() })),
  sequences: z.array(z.strictObject({ name: z.string(), lastValue: z.string() })),
  /** The manifest of persisted documents; null: there is none. */
  persistedDocuments: z.string().nullable(),
});

const TableStart = z.strictObject({ table: z.string(), columns: z.array(z.string()).min(1) });

const Manifest = z.strictObject({
  tables: z.array(z.strictObject({ name: z.string(), rows: z.int(), digest: z.string() })),
  /** Of all lines before. */
  sha256: z.string(),
});

/** Where a backup comes from, and what else than rows it has. */
export type Header = z.infer<typeof Header>;
/** What a backup must have. */
export type Manifest = z.infer<typeof Manifest>;
/** The beginning of a table in a backup. */
type TableStart = z.infer<typeof TableStart>;

/** A part of a backup, in order: the header, then each table with its rows in batches, then the manifest. */
export type BackupPart =
  | { readonly header: Header }
  | { readonly table: TableStart; readonly lines: readonly string[] }
  | { readonly manifest: Manifest };

/** A file that is no complete backup. The message has no value of it. */
export class BackupError extends Error {}

/** A table to be written, and its rows in batches. */
export interface TableToWrite extends TableStart {
  readonly rows: AsyncIterable<readonly string[]>;
}

/**
 * Writes a backup, readable by its owner alone: whole, or not at all.
 *
 * @returns what it has
 * @throws BackupError when the path, or what another backup to it left, exists
 */
export async function writeBackup(
  path: string,
  header: Omit<Header, 'format' | 'version'>,
  tables: AsyncIterable<TableToWrite>,
): Promise<Manifest> {
  if (await fileExists(path)) throw new BackupError('the file exists already; choose another name');
  const draft = `${path}.partial`;
  if (await fileExists(draft))
    throw new BackupError(`${draft} exists: another backup writes it, or was killed; delete it then`);
  const hash = createHash('sha256');
  const written: Manifest['tables'] = [];
  let manifest: Manifest | undefined;
  async function* lines(): AsyncGenerator<string> {
    yield hashed(hash, [JSON.stringify({ format: 'strongroom-backup', version: VERSION, ...header })]);
    for await (const { table, columns, rows } of tables) {
      yield hashed(hash, [JSON.stringify({ table, columns })]);
      const digest = new TableDigest();
      for await (const batch of rows) {
        digest.add(batch);
        yield hashed(hash, batch);
      }
      written.push({ name: table, ...digest.value });
    }
    manifest = { tables: written, sha256: hash.digest('hex') };
    yield `${JSON.stringify(manifest)}\n`;
  }
  try {
    await pipeline(
      Readable.from(lines()),
      createGzip(),
      createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
    );
    await rename(draft, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    // A draft that another program writes is not ours to delete.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(draft, { force: true });
    throw error;
  }
  if (manifest === undefined) throw new Error('a backup was written without its manifest');
  return manifest;
}

/** Whether there is a file. */
export const fileExists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function hashed(hash: Hash, lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  hash.update(text);
  return text;
}

/**
 * Reads a backup, in bounded memory, and compares it with its manifest.
 *
 * @throws BackupError when it is no backup, of a newer version, truncated or altered
 */
export async function* readBackup(path: string): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256');
  const tables = new Map<string, TableDigest>();
  let hasHeader = false;
  let table: TableStart | null = null;
  let manifest: Manifest | null = null;
  for await (const lines of batchesOf(path)) {
    if (manifest !== null) throw new BackupError('the file goes on after its manifest');
    const [first = ''] = lines;
    if (first.startsWith('[')) {
      if (table === null) throw new BackupError('the file has rows without a table');
      hashed(hash, lines);
      tables.get(table.table)?.add(lines);
      yield { table, lines };
    } else if (!hasHeader) {
      hasHeader = true;
      yield { header: parsed(Header, first, 'the file is no backup, or was made by a newer version of Strongroom') };
      hashed(hash, lines);
    } else if (first.startsWith('{"table":')) {
      table = parsed(TableStart, first, 'the file is not a complete backup');
      if (tables.has(table.table)) throw new BackupError('the file has a table twice');
      tables.set(table.table, new TableDigest());
      hashed(hash, lines);
      yield { table, lines: [] };
    } else {
      manifest = parsed(Manifest, first, 'the file is not a complete backup');
      const found = [...tables].map(([name, digest]) => ({ name, ...digest.value }));
      if (manifest.sha256 !== hash.digest('hex') || JSON.stringify(found) !== JSON.stringify(manifest.tables))
        throw new BackupError('the file differs from its manifest: it is damaged or was altered');
      yield { manifest };
    }
  }
  if (manifest === null) throw new BackupError('the file is truncated');
}

function parsed<T>(schema: z.ZodType<T>, line: string, otherwise: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new BackupError(otherwise);
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new BackupError(otherwise);
  return result.data;
}

/** Lines of rows in batches, and every other line by itself. */
async function* batchesOf(path: string): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let length = 0;
  for await (const line of linesOf(path)) {
    const isRow = line.startsWith('[');
    if (batch.length > 0 && (!isRow || batch.length === BATCH_LINES || length > BATCH_LENGTH)) {
      yield batch;
      batch = [];
      length = 0;
    }
    if (isRow) {
      batch.push(line);
      length += line.length;
    } else {
      yield [line];
    }
  }
  if (batch.length > 0) yield batch;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const text = file.pipe(createGunzip());
  file.on('error', (error) => text.destroy(error));
  text.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of text) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() as string;
      if (rest.length > LONGEST_LINE) throw new BackupError('the file has a line that is too long for a backup');
      yield* lines;
    }
  } catch (error) {
    // Of zlib: no gzip file, or the end or the middle of one is missing.
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_'))
      throw new BackupError('the file is no backup, is damaged or truncated');
    throw error;
  } finally {
    file.destroy();
  }
  if (rest !== '') throw new BackupError('the file is truncated');
}
