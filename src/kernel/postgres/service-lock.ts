import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';

/**
 * Makes this process the only service on a data directory, until the returned function is called or the process dies.
 *
 * @throws ConfigurationError when another living service has it
 */
export async function lockDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  const lock = join(dataDir, 'service.lock');
  const own = `${lock}.${randomUUID()}`;
  const content = `${process.pid} ${await startOf(process.pid)} ${randomUUID()}\n`;
  await writeFile(own, content, { mode: 0o600 });
  try {
    for (;;) {
      // A link appears with its content: nobody ever reads a lock that does not name its holder yet.
      if (await ifErrno('EEXIST', link(own, lock))) break;
      await removeIfDead(lock, own);
    }
  } finally {
    await rm(own, { force: true });
  }
  return async () => {
    if ((await readFile(lock, 'utf8').catch(() => '')) === content) await rm(lock, { force: true });
  };
}

async function removeIfDead(lock: string, own: string): Promise<void> {
  const held = await readFile(lock, 'utf8').catch(() => null);
  if (held === null) return;
  const [pid, start] = held.split(' ');
  if (await isSameProcess(Number(pid), start ?? '')) {
    throw new ConfigurationError([
      'DATA_DIR is used by another running service; stop that service, or use a different directory',
    ]);
  }
  // Moved away before it is judged again: two that find the same dead holder must not remove each other's new lock.
  const aside = `${own}.dead`;
  if (!(await ifErrno('ENOENT', rename(lock, aside)))) return;
  if ((await readFile(aside, 'utf8')) !== held) await ifErrno('EEXIST', link(aside, lock));
  await rm(aside, { force: true });
}

async function isSameProcess(pid: number, start: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return (await startOf(pid)) === start;
}

/** When a process started: a number that differs between two processes that have had the same id, also across boots. */
async function startOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (status === null) return 'unknown';
  // The second field is a name that may hold blanks and brackets; counting starts behind its last bracket.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  // Killed, and not yet taken note of by its parent: it holds nothing any more.
  if (fields[0] === 'Z' || fields[0] === 'X') return 'dead';
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${boot.trim()}:${fields[19]}`;
}

/** True when the work was done, false when it failed with exactly this error. */
async function ifErrno(code: string, work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
