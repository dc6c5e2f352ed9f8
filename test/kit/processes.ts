import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Ids of the processes of the embedded Postgres of a data directory, its backends too. They work in their cluster. */
export async function embeddedPostgres(dataDir: string): Promise<number[]> {
  const cluster = join(dataDir, 'postgres');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, index) => places[index] === cluster);
}

/** Signals the embedded Postgres of a data directory, which has a process group of its own. @returns its processes */
export async function signalEmbeddedPostgres(dataDir: string, name: NodeJS.Signals): Promise<number[]> {
  const pids = await embeddedPostgres(dataDir);
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended, as each does with the one before it.
    }
  }
  return pids;
}

/** Suspends it. What its server has begun before it stood still is found by another look. */
export async function suspendEmbeddedPostgres(dataDir: string): Promise<void> {
  const suspended = new Set<number>();
  for (let before = -1; before < suspended.size; ) {
    before = suspended.size;
    for (const pid of await signalEmbeddedPostgres(dataDir, 'SIGSTOP')) suspended.add(pid);
  }
}

/** How an operator reaches the embedded Postgres of a running service: through its socket, with the password in `dataDir`. */
export async function embeddedUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  return `postgres://strongroom:${password}@${encodeURIComponent(join(dataDir, 'postgres'))}/strongroom`;
}
