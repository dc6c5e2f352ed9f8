import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findUnused } from '../features/identity/access/public.js';
import type { Query } from '../kernel/database/database.js';
import { writeDurably } from '../kernel/durable-file.js';
import { makeDataDirectory } from '../kernel/postgres/data-directory.js';

/** The token of the first admin that nobody has used yet. */
export interface UnusedToken {
  /** Absolute path of its file. */
  readonly file: string;
  /** It ended because nobody used it within a day. */
  readonly isExpired: boolean;
}

/** @returns absolute path of the file with the token of the first admin */
export const tokenFileIn = (dataDir: string): string => join(dataDir, 'bootstrap-token');

/**
 * The token of the first admin is on disk, readable by the owner alone, before it is in the database.
 *
 * @throws ConfigurationError when `DATA_DIR` cannot be made
 */
export async function keepToken(dataDir: string, token: string): Promise<void> {
  await makeDataDirectory(dataDir);
  await writeDurably(tokenFileIn(dataDir), `${token}\n`);
}

/**
 * Finds the token of the first admin that nobody has used yet: a first start may have failed after the token was made, and its output
 * may be lost.
 *
 * @returns null when there is no such file, or its token was used or revoked
 */
export async function findUnusedToken(dataDir: string, query: Query): Promise<UnusedToken | null> {
  const file = tokenFileIn(dataDir);
  // A file that cannot be read must not keep the service from starting.
  const text = await readFile(file, 'utf8').catch(() => '');
  const token = await findUnused(query, text.trim());
  return token === null ? null : { file, isExpired: token.isExpired };
}
