import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { expectThat } from './check.ts';
import { withInstallation } from './installation.ts';
import type { StoreApart } from './store-apart.ts';

const WORKER = join(import.meta.dirname, 'job-worker.mjs');
const SOURCES = join(import.meta.dirname, '../kit/sources.mjs');
const CLOCK = join(import.meta.dirname, 'skewed-clock.mjs');

const TABLES = `
  create table if not exists call (job_id uuid not null, worker integer not null, at timestamptz not null default clock_timestamp());
  create table if not exists effect (job_id uuid not null, worker integer not null);
  insert into job_kind (name) values ('test:work') on conflict do nothing;`;
const CLEAR = `truncate call, effect; delete from job where kind = 'test:work'`;

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
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    this.#children.push(child);
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return child;
  }

  /** Forgets all jobs, and what they did. */
  async clear(): Promise<void> {
    await this.sql(CLEAR);
  }

  /** Queues jobs at the nodes, as many at each. */
  async queue(count: number, dueInSeconds = 0, at = this.#children): Promise<void> {
    const queued = await this.sql<{ id: string }>(
      `insert into job (id, kind, dedupe_key, state, wake_at, give_up_from)
       select id, 'test:work', 'key ' || id, 'waiting', now() + make_interval(secs => $2), now() + make_interval(secs => $2)
       from (select gen_random_uuid() as id from generate_series(1, $1)) given returning id`,
      [count, dueInSeconds],
    );
    const nodes = at.filter(({ connected }) => connected);
    nodes.forEach((node, at) => {
      node.send(queued.filter((_, index) => index % nodes.length === at).map(({ id }) => id));
    });
  }

  /** Waits until all nodes say of the store that they reach it, or that they do not. */
  async untilConnected(isConnected: boolean, deadlineMs: number): Promise<void> {
    await until(`all nodes to be connected: ${isConnected}`, deadlineMs, async () => {
      const answers = this.#children.map(async (node) => {
        node.send('connected');
        const [answer] = await once(node, 'message');
        return answer;
      });
      return (await Promise.all(answers)).every((answer) => answer === isConnected);
    });
  }

  /** Waits until the store is whole: all nodes reach it, and it has a job that is queued now. */
  async untilUsed(store: StoreApart, deadlineMs: number): Promise<void> {
    await this.untilConnected(true, deadlineMs);
    await this.clear();
    await this.queue(1, 2);
    await until('the job in the store', deadlineMs, async () =>
      (await store.jobs()).some((job) => job.includes('test:work')),
    );
    await this.untilDone(deadlineMs);
  }

  /** How long after it was due the first attempt of a job began that waited longest, in milliseconds. */
  async latestMs(): Promise<number> {
    const [found] = await this.sql<{ ms: number }>(
      `select extract(epoch from max(started_at - due_at))::double precision * 1000 as ms from (
         select min(a.started_at) as started_at, j.give_up_from as due_at
         from job_attempt a join job j on j.id = a.job_id where j.kind = 'test:work' group by j.id) each`,
    );
    return found?.ms ?? Number.POSITIVE_INFINITY;
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

  /** All jobs took effect, once each and at the first attempt. */
  async expectOnce(count: number, name = ''): Promise<void> {
    const { jobs, most } = await this.effects();
    expectThat(jobs === count && most === 1, `${name} ${jobs} of ${count} jobs took effect, one of them ${most} times`);
    const outcomes = (await this.outcomes()).map(String);
    const areDone = outcomes.every((outcome) => outcome === 'done');
    expectThat(
      areDone && outcomes.length === count,
      `${name} attempts at ${count} jobs: ${outcomes.length}, ${[...new Set(outcomes)]}`,
    );
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
      await workers.clear();
      try {
        await work(workers);
      } finally {
        await workers.stop();
      }
    }
  });
}
