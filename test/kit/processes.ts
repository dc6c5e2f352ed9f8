import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Ids of the processes of the embedded Postgres of a data directory, its backends too. They work in their cluster. */
export async function embeddedPostgres(dataDir: string): Promise<number[]> {
  const cluster = join(dataDir, 'postgres');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, index) => places[index] === cluster);
}

/** SIGKILL of the embedded Postgres of a data directory, which has a process group of its own. */
export async function killEmbeddedPostgres(dataDir: string): Promise<void> {
  for (const pid of await embeddedPostgres(dataDir)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended with the one before it.
    }
  }
}

/** How an operator reaches the embedded Postgres of a running service: through its socket, with the password in `dataDir`. */
export async function embeddedUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  return `postgres://strongroom:${password}@${encodeURIComponent(join(dataDir, 'postgres'))}/strongroom`;
}
