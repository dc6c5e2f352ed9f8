import { open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from './account.js';
import { freeBytes } from './disk-space.js';

const RESERVE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const MIN_FREE_BYTES = 1024 * 1024 * 1024;

/**
 * Keeps a disk reserve: a file of 64 MiB that the operator deletes when the disk is full, because a server without space for its
 * write-ahead log cannot even recover. It is created again by the next start that finds 1 GiB free.
 *
 * @param isStopping called between chunks; an incomplete file is then removed
 */
export async function keepReserve(path: string, isStopping: () => boolean, log: Log): Promise<void> {
  try {
    if ((await stat(path).catch(() => null))?.size === RESERVE_BYTES) return;
    if ((await freeBytes(dirname(path))) < MIN_FREE_BYTES) return;
    const file = await open(path, 'w', 0o600);
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let written = 0; written < RESERVE_BYTES && !isStopping(); written += CHUNK_BYTES) await file.write(chunk);
    } finally {
      await file.close();
    }
    if (isStopping()) await rm(path, { force: true });
  } catch {
    await rm(path, { force: true }).catch(() => undefined);
    log('disk reserve not created', {}, 'warn');
  }
}
