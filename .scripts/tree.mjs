// What the set-up needs to know of the work tree: its files, their hash, and a lock for one set-up at a time.
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const LOCK_WAIT_MS = 10 * 60_000;

export const isDeepEqual = (a, b) => isDeepStrictEqual(a ?? {}, b ?? {});

/** Every file below a folder of the work tree, as sorted paths from its root. */
export function sourceFiles(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(ROOT.length + 1))
    .sort();
}

/** One hash of the names and contents of these files; a missing file counts as missing. */
export function contentHash(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const file = join(ROOT, path);
    const content = existsSync(file) ? readFileSync(file) : 'missing';
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Runs `work` while no other process of this work tree does; a lock whose holder is dead is taken over. */
export async function withLock(lock, work) {
  const own = `${lock}.${process.pid}`;
  const deadline = Date.now() + LOCK_WAIT_MS;
  writeFileSync(own, String(process.pid));
  try {
    while (!acquire(own, lock)) {
      if (Date.now() > deadline) throw new Error(`another set-up holds ${lock} since ten minutes.`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
    rmSync(own);
    try {
      return await work();
    } finally {
      rmSync(lock, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
}

function acquire(own, lock) {
  try {
    // A link appears with its content: nobody ever reads a lock that does not name its holder yet.
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = readHolder(lock);
  if (holder !== null && !isAlive(holder)) {
    // Moved away before it is judged again: two that find the same dead holder must not remove each other's new lock.
    const aside = `${own}.dead`;
    try {
      renameSync(lock, aside);
      if (readHolder(aside) !== holder) linkSync(aside, lock);
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
    }
    rmSync(aside, { force: true });
  }
  return false;
}

function readHolder(lock) {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
