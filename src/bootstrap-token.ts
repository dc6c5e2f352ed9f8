import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isUnused } from './features/access/public.js';
import type { Query } from './kernel/database/database.js';
import { writeDurably } from './kernel/durable-file.js';

const fileIn = (dataDir: string): string => join(dataDir, 'bootstrap-token');

/** The token of the first admin is on disk, readable by the owner alone, before it is in the database. */
export const keepToken = (dataDir: string, token: string): Promise<void> => writeDurably(fileIn(dataDir), `${token}\n`);

/**
 * Where the token of the first admin lies that nobody has used yet: a first start may have failed after it was made, and what
 * that printed may be lost.
 *
 * @returns null when there is no such file, or its token was used or revoked
 */
export async function unusedTokenFile(dataDir: string, query: Query): Promise<string | null> {
  const path = fileIn(dataDir);
  // A file that cannot be read is nothing that keeps the service from starting.
  const token = await readFile(path, 'utf8').catch(() => '');
  return (await isUnused(query, token.trim())) ? path : null;
}
