import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { withInstallation } from './installation.ts';

const WORKER = join(import.meta.dirname, 'job-worker.mjs');
const SOURCES = join(import.meta.dirname, '../kit/sources.mjs');
const CLOCK = join(import.meta.dirname, 'skewed-clock.mjs');

const TABLES = `
  create table if not exists call (job_id uuid not null, worker integer not null, at timestamptz not null default clock_timestamp());
  create table if not exists effect (job_id uuid not null, worker integer not null);
  insert into job_kind (name) values ('test:work') on conflict do nothing;
  truncate call, effect; delete from job where kind = 'test:work';`;

/** What a worker does for each job. */
interface Work {
  readonly stepMs: number;
  readonly steps: number;
  /** How far its clock is ahead. */
  readonly aheadMs?: number;
  /** Text of the error in which each job ends. */
  readonly failure?: string;
  readonly leaseSeconds?: number;
}

/** Nodes that do jobs on one database, as processes that can be killed. */
export class JobWorkers {
  readonly url: string;
  readonly #children: ChildProcess[] = [];

  constructor(url: string) {
    this.url = url;
  }

  /** Waits for a further node to look for jobs. */
  async start({ stepMs, steps, aheadMs = 0, failure = '', leaseSeconds = 1 }: Work): Promise<ChildProcess> {
    const args = [
      `--import=${SOURCES}`,
      `--import=${CLOCK}?ms=${aheadMs}`,
      WORKER,
      this.url,
      `${stepMs}`,
      `${steps}`,
      failure,
      `${leaseSeconds}`,
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.push(child);
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return child;
  }

  async queue(count: number, dueInSeconds = 0): Promise<void> {
    await this.sql(
      `insert into job (id, kind, dedupe_key, state, wake_at)
       select gen_random_uuid(), 'test:work', 'key ' || n, 'waiting', now() + make_interval(secs => $2) from generate_series(1, $1) n`,
      [count, dueInSeconds],
    );
  }

  async sql<R extends object>(text: string, params: readonly unknown[] = []): Promise<R[]> {
    return withClient(this.url, async (client) => (await client.query<R>(text, [...params])).rows);
  }

  /** @returns how long it took, in milliseconds */
  async untilDone(deadlineMs: number, state: 'done' | 'failed' = 'done'): Promise<number> {
    const begun = performance.now();
    await until(`all jobs to be ${state}`, deadlineMs, async () => {
      const [{ open } = { open: 1 }] = await this.sql<{ open: number }>(
        `select count(*)::int as open from job where kind = 'test:work' and state <> $1`,
        [state],
      );
      return open === 0;
    });
    return performance.now() - begun;
  }

  /** How each attempt at a job of these checks ended, the earliest first; null while it runs. A service may have run its own jobs. */
  async outcomes(): Promise<readonly (string | null)[]> {
    const attempts = await this.sql<{ outcome: string | null }>(
      `select outcome from job_attempt where job_id in (select id from job where kind = 'test:work') order by fence`,
    );
    return attempts.map(({ outcome }) => outcome);
  }

  /** How many jobs have how many effects. */
  async effects(): Promise<{ jobs: number; most: number }> {
    const [found] = await this.sql<{ jobs: number; most: number }>(
      'select count(*)::int as jobs, coalesce(max(each), 0)::int as most from (select count(*) as each from effect group by job_id) e',
    );
    return found ?? { jobs: 0, most: 0 };
  }

  async stop(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}

/** Runs work on a database with the tables of these checks, and leaves no process behind. */
export function withJobWorkers(times: number, work: (workers: JobWorkers) => Promise<void>): Promise<void> {
  return withInstallation(async (installation) => {
    const workers = new JobWorkers(await installation.databaseUrl());
    for (let time = 0; time < times; time += 1) {
      await workers.sql(TABLES);
      try {
        await work(workers);
      } finally {
        await workers.stop();
      }
    }
  });
}
