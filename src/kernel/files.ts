import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file for its owner alone, in place of one that is there, and answers when it is on the disk: whole, or as it was
 * before.
 */
export async function writeDurably(path: string, content: string): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncDirectory(dirname(path));
}

/** Puts on the disk which files a directory has. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** For `catch`: null if there is no such file. @throws every other error */
export function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/**
 * Makes a directory for its owner alone, and those above it that are missing; one that is there stays as it is.
 *
 * Not `mkdir` with `recursive`: in a file system that lets nobody make a directory (`/proc`), Node tries again for ever.
 *
 * @param path absolute
 * @throws Error of the file system, for `fileErrorReason`
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (codeFrom(error) !== 'ENOENT' || above === path) throw error;
    await makeDirectory(above);
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    // Others say so of a directory that is there: a file system that may be read only.
    const isThere = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isThere) throw error;
  }
}

/** What is wrong with a path, by the code of the file system. */
export const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted for this account',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  ENOENT: 'no directory can be created there',
  ENOTDIR: 'part of its path is a file',
  EEXIST: 'it is a file',
  EISDIR: 'it is a directory',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'its path has a loop of symbolic links',
};

const codeFrom = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** What a file system error means, in words, without the path. */
export function fileErrorReason(error: unknown): string {
  const code = codeFrom(error);
  return FILE_REASONS[code] ?? `the file system reports ${code}`;
}
