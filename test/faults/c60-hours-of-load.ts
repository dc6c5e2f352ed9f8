import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../kit/free-port.ts';
import { embeddedPostgres, signalEmbeddedPostgres } from '../kit/processes.ts';
import { Rotating } from '../kit/rotating.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { Installation } from './installation.ts';
import { MixedLoad } from './mixed-load.ts';
import { BOUNDED, type Figures, figuresOf, largest, settled } from './process-figures.ts';
import { untilHealthy, untilWhole } from './steady-writers.ts';

const PER_SECOND = 20;
/** One kill each. Eight hours are 48 of them. */
const WINDOW_MS = 600_000;
/** When the kill comes at the latest, and from when on everything is settled again. */
const KILLED_WITHIN_MS = 120_000;
const SETTLED_AFTER_MS = 300_000;
const SAMPLE_EVERY_MS = 5_000;
const HEALTHY_WITHIN_MS = 30_000;
/** The first settling: an hour, or half of a shorter run. No figure may be more after it than this times what it was by then. */
const SETTLING_WINDOWS = 6;
const GROWTH = 1.1;
/** Connections of a pool come and go; so do their processes. */
const FEW_FILES = 12;

const OF_SERVICE = `select pid from pg_stat_activity where application_name = 'strongroom' and pid <> pg_backend_pid()`;

/** What may have been left in the database when nothing is asked any more. */
const LEFT_BEHIND = `
  select 'a running job that nobody renews' as what from job where state = 'running' and wake_at < now() - interval '1 minute'
  union all select 'an attempt at a job that nobody makes' from job_attempt a
    where outcome is null and not exists (select from job where id = a.job_id and state = 'running')
  union all select 'an attempt of a rotation' from secret_rotation_attempt where ended_at is null
  union all select 'a debt of a rotation' from credential_debt
  union all select 'a transaction' from pg_stat_activity where xact_start < now() - interval '1 minute' and backend_type = 'client backend'
  union all select 'a prepared transaction' from pg_prepared_xacts
  union all select 'a replication slot' from pg_replication_slots
  union all select 'a lock' from pg_locks where locktype = 'advisory'`;

type Kill = (installation: Installation) => Promise<void>;

const KILLS: Readonly<Record<string, Kill>> = {
  'service killed': async (installation) => {
    installation.service.signal('SIGKILL');
    await installation.service.exit();
    await installation.start();
  },
  'Postgres killed': async ({ dataDir }) => {
    await signalEmbeddedPostgres(dataDir, 'SIGKILL');
  },
  'service stopped': async (installation) => {
    installation.service.signal('SIGTERM');
    const code = await installation.service.exit(30_000);
    expectThat(code === 0, `it ended with ${code}: ${installation.service.output}`);
    await installation.start();
  },
  'connections cut': async (installation) => {
    await withClient(await installation.databaseUrl(), async (client) => {
      await client.query(`select pg_terminate_backend(pid) from (${OF_SERVICE}) service`);
    });
  },
};

/** Kinds of kills at random, each once before any comes again. */
function* randomKills(): Generator<[string, Kill]> {
  for (;;) {
    const left = Object.entries(KILLS);
    while (left.length > 0) yield* left.splice(randomInt(left.length), 1);
  }
}

/** What a data directory holds, and the directory of temporary files of the server in it. */
async function filesIn(dataDir: string): Promise<string> {
  const temporary = await readdir(join(dataDir, 'postgres/base/pgsql_tmp')).catch(() => []);
  return [...(await readdir(dataDir)).sort(), ...temporary].join(' ');
}

const isAlive = (processOrGroup: number): boolean => {
  try {
    return process.kill(processOrGroup, 0);
  } catch {
    return false;
  }
};

/** Kills once, and tells what the processes held when all was settled. */
async function oneWindow(
  installation: Installation,
  load: MixedLoad,
  [name, kill]: [string, Kill],
  healthy: () => Promise<number>,
): Promise<Figures> {
  const end = performance.now() + WINDOW_MS;
  const samples: Figures[] = [];
  await delay(randomInt(KILLED_WITHIN_MS));
  const healthyMs = await load.disturbed(async () => {
    await kill(installation);
    const tookMs = await healthy();
    await delay(2_000);
    return tookMs;
  });
  expectThat(healthyMs <= HEALTHY_WITHIN_MS, `${name}: healthy after ${Math.round(healthyMs)} ms`);
  while (performance.now() < end) {
    await delay(SAMPLE_EVERY_MS);
    load.expectUnbroken();
    const { child, url } = installation.service;
    if (performance.now() > end - (WINDOW_MS - SETTLED_AFTER_MS))
      samples.push(await figuresOf({ pid: child.pid as number, url }, installation.dataDir));
  }
  const figures = settled(samples);
  console.log(
    `${new Date().toISOString()} ${name}, healthy after ${Math.round(healthyMs)} ms: ${told(figures)}; ${JSON.stringify(load.answers)}`,
  );
  return figures;
}

const told = ({ usedMiB, serviceMiB, serviceFiles, postgresMiB, postgresFiles, postgresProcesses }: Figures): string =>
  `service ${serviceMiB.toFixed(0)} MiB, ${usedMiB.toFixed(0)} of them used, and ${serviceFiles} descriptors, Postgres ${postgresMiB.toFixed(0)} MiB and ${postgresFiles} in ${postgresProcesses} processes`;

/** @throws Error when something is more than it was when all had settled */
function judgeGrowth(windows: readonly Figures[]): void {
  const settling = windows.slice(0, Math.min(SETTLING_WINDOWS, Math.ceil(windows.length / 2)));
  const base = largest(settling);
  for (const figures of windows.slice(settling.length)) {
    const isMore = (name: keyof Figures): boolean =>
      figures[name] > base[name] * GROWTH + (name.endsWith('MiB') ? 0 : FEW_FILES);
    expectThat(!BOUNDED.some(isMore), `it grew from ${told(base)} to ${told(figures)}`);
  }
}

/** @throws Error when rows, files or processes are left of what ran */
async function judgeLeftovers(installation: Installation, filesBefore: string): Promise<void> {
  const url = await installation.databaseUrl();
  let left = '';
  await until(
    () => `nothing to be left behind: ${left}`,
    90_000,
    async () => {
      left = await withClient(url, async (client) =>
        (await client.query<{ what: string }>(LEFT_BEHIND)).rows.map(({ what }) => what).join(', '),
      );
      return left === '';
    },
  );
  const files = await filesIn(installation.dataDir);
  expectThat(files === filesBefore, `the data directory had ${filesBefore}, and has ${files}`);
  const { service } = installation;
  expectThat((await service.stop()) === 0, `it did not stop with 0: ${service.output}`);
  expectThat((await embeddedPostgres(installation.dataDir)).length === 0, 'processes of Postgres are left');
  expectThat(!isAlive(-(service.child.pid as number)), 'processes of the service are left');
}

export const check: Check = {
  id: 'C60',
  title: 'mixed load, and one kill every ten minutes',
  fullTimes: 48,
  needsQuiet: true,
  isLong: true,
  run: async (times) => {
    const env = { PORT: String(await freePort()), ALLOW_PRIVATE_TARGETS: 'true' };
    const installation = await Installation.make(env);
    try {
      await installation.start();
      const seed = await installation.seed();
      const url = await installation.databaseUrl();
      const sql = (text: string, params: unknown[] = []) =>
        withClient(url, async (client) => (await client.query(text, params)).rows as object[]);
      const rotating = await Rotating.start({ seed, sql });
      const [seeded, other] = [await seed.project(), await seed.project()];
      const filesBefore = await filesIn(installation.dataDir);
      const load = await MixedLoad.start(seeded, rotating, PER_SECOND);
      const figures: Figures[] = [];
      const kills = randomKills();
      await repeat(times, async () => {
        const kill = kills.next().value as [string, Kill];
        figures.push(await oneWindow(installation, load, kill, () => untilHealthy(other)));
      });
      await load.end();
      const analysed = await load.judge();
      await untilWhole(await installation.admin());
      await judgeLeftovers(installation, filesBefore);
      judgeGrowth(figures);
      await rotating.stop();
      return `${analysed}; at first ${told(figures[0] as Figures)}, in the end ${told(figures.at(-1) as Figures)}`;
    } finally {
      await installation.dispose();
    }
  },
};
