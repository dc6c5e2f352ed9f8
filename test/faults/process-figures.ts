import { readdir, readFile } from 'node:fs/promises';
import { embeddedPostgres } from '../kit/processes.ts';

/** What processes hold. */
export interface Figures {
  /** What the service's objects and buffers take. What its process has beside is garbage, whose amount is V8's choice. */
  readonly usedMiB: number;
  /** Memory of the service that is its own and in the machine. */
  readonly serviceMiB: number;
  readonly serviceFiles: number;
  /** Of all processes of its embedded Postgres, without what they share. */
  readonly postgresMiB: number;
  readonly postgresFiles: number;
  readonly postgresProcesses: number;
}

async function anonymousMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
}

const openFiles = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

async function usedMiB(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const bytes = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return (bytes('nodejs_heap_size_used_bytes') + bytes('nodejs_external_memory_bytes')) / 1_048_576;
}

/** What a service and the embedded Postgres of its data directory hold now. */
export async function figuresOf(service: { pid: number; url: string }, dataDir: string): Promise<Figures> {
  const postgres = await embeddedPostgres(dataDir);
  return {
    usedMiB: await usedMiB(service.url),
    serviceMiB: await anonymousMiB(service.pid),
    serviceFiles: await openFiles(service.pid),
    postgresMiB: sum(await Promise.all(postgres.map(anonymousMiB))),
    postgresFiles: sum(await Promise.all(postgres.map(openFiles))),
    postgresProcesses: postgres.length,
  };
}

const FIGURES = ['usedMiB', 'serviceMiB', 'serviceFiles', 'postgresMiB', 'postgresFiles', 'postgresProcesses'] as const;

/** Those that must not grow. */
export const BOUNDED = FIGURES.filter((name) => name !== 'serviceMiB');

const each = (of: (name: keyof Figures) => number): Figures =>
  Object.fromEntries(FIGURES.map((name) => [name, of(name)])) as unknown as Figures;

/** Each figure by itself: medians, and of memory the least. What garbage adds to it comes and goes; what leaks stays. */
export const settled = (samples: readonly Figures[]): Figures =>
  each((name) => {
    const sorted = samples.map((sample) => sample[name]).sort((a, b) => a - b);
    return sorted[name.endsWith('MiB') ? 0 : sorted.length >> 1] ?? Number.NaN;
  });

/** Each figure by itself. */
export const largest = (samples: readonly Figures[]): Figures =>
  each((name) => Math.max(...samples.map((sample) => sample[name])));
