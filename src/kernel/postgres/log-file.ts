import { copyFile, open, stat, truncate } from 'node:fs/promises';

const MAX_BYTES = 8 * 1024 * 1024;

/** Opens the log of the server for appending. The caller closes it once the server has it. */
export const openLogFile = (path: string) => open(path, 'a', 0o600);

/**
 * Keeps the log at 8 MiB and one older part of the same size.
 *
 * Emptied in place and not renamed: the server appends to the open file and would go on writing to the renamed one.
 */
export async function boundLogFile(path: string): Promise<void> {
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  if (size <= MAX_BYTES) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}
