import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { embeddedPostgres } from '../kit/processes.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';
import { SteadyWriters, untilHealthy, untilWhole } from './steady-writers.ts';

const WRITERS = [8, 40];
const HEALTHY_WITHIN_MS = 5_000;
/** Longer than any wait for the database, and shorter than what clients wait. */
const ANSWERED_WITHIN_MS = 15_000;
const EXHAUSTED_MS = 2_000;

const OF_SERVICE = `select pid from pg_stat_activity where application_name = 'strongroom' and pid <> pg_backend_pid()`;

type Manner = (installation: Installation) => Promise<void>;

/** The ways in which connections die. Each ends when nothing stands between the service and its database any more. */
const MANNERS: Readonly<Record<string, Manner>> = {
  'one terminated': (installation) =>
    onDatabase(installation, async (client) => {
      await client.query(
        `select pg_terminate_backend(pid) from (${OF_SERVICE} and xact_start is not null limit 1) busy`,
      );
    }),
  'one killed': async (installation) => {
    const pid = await onDatabase(installation, async (client) => {
      const { rows } = await client.query<{ pid: number }>(`${OF_SERVICE} order by xact_start nulls last limit 1`);
      return rows[0]?.pid;
    });
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    // Postgres ends all others when one was killed, and starts over.
    await delay(100);
    await untilDatabase(installation);
  },
  'all terminated': (installation) =>
    onDatabase(installation, async (client) => {
      await client.query(`select pg_terminate_backend(pid) from (${OF_SERVICE}) service`);
    }),
  'restart fast': (installation) => restart(installation, 'SIGINT'),
  'restart immediate': (installation) => restart(installation, 'SIGQUIT'),
  'connections exhausted': exhaust,
};

async function onDatabase<T>(installation: Installation, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(await installation.databaseUrl(), work);
}

const untilDatabase = (installation: Installation): Promise<unknown> =>
  until('the database', 30_000, () =>
    onDatabase(installation, async (client) => (await client.query('select 1')).rows),
  );

async function restart(installation: Installation, signal: NodeJS.Signals): Promise<void> {
  const file = await readFile(join(installation.dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  const postmaster = Number(file.split('\n')[0]);
  process.kill(postmaster, signal);
  await until(
    'the end of the server',
    20_000,
    async () => !(await embeddedPostgres(installation.dataDir)).includes(postmaster),
  );
  await untilDatabase(installation);
}

/** Takes every connection that the server has, those of the service too, and gives them back a little later. */
async function exhaust(installation: Installation): Promise<void> {
  const connectionString = await installation.databaseUrl();
  const taken: pg.Client[] = [];
  const end = performance.now() + EXHAUSTED_MS;
  try {
    while (performance.now() < end) {
      const client = new pg.Client({ connectionString });
      client.on('error', () => undefined);
      const isIn = await client.connect().then(
        () => true,
        () => false,
      );
      if (isIn) taken.push(client);
      else await taken[0]?.query(`select pg_terminate_backend(pid) from (${OF_SERVICE}) service`);
    }
  } finally {
    await Promise.all(taken.map((client) => client.end()));
  }
  await untilDatabase(installation);
}

export const check: Check = {
  id: 'C61',
  title: 'connections die under 8 and 40 writers',
  fullTimes: 50,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const manners = Object.entries(MANNERS);
      const totals = { acknowledged: 0, refused: 0, slowestMs: 0, healthyMs: 0 };
      const tried = new Map<string, number>();
      await repeat(times, async (index) => {
        for (const count of WRITERS) {
          const [name, die] = manners[index % manners.length] as [string, Manner];
          const admin = await installation.admin();
          const seed = await installation.seed();
          const [project, other] = [await seed.projectOf(admin), await seed.project()];
          const writers = new SteadyWriters(admin, project, { count, prefix: 'KEY' });
          await writers.more(count);
          await die(installation);
          const healthyMs = await untilHealthy(other);
          await writers.more(count);
          await writers.end();
          const at = `${name} under ${count}`;
          expectThat(healthyMs <= HEALTHY_WITHIN_MS, `${at}: healthy after ${Math.round(healthyMs)} ms`);
          expectThat(
            writers.slowestMs <= ANSWERED_WITHIN_MS,
            `${at}: an answer after ${Math.round(writers.slowestMs)} ms`,
          );
          await untilWhole(admin);
          await writers.judge();
          tried.set(name, (tried.get(name) ?? 0) + 1);
          totals.acknowledged += writers.acknowledged.size;
          totals.refused += writers.refused;
          totals.slowestMs = Math.max(totals.slowestMs, writers.slowestMs);
          totals.healthyMs = Math.max(totals.healthyMs, healthyMs);
        }
      });
      expectThat((await installation.service.stop()) === 0, 'the service did not stop with 0');
      const deaths = [...tried].map(([name, count]) => `${count} x ${name}`).join(', ');
      return `${deaths}: ${totals.acknowledged} acknowledged and 0 lost, ${totals.refused} answers of 503 or 504 and 0 of 500, slowest answer ${inSeconds(totals.slowestMs)}, slowest healthy ${inSeconds(totals.healthyMs)}, every place back`;
    }),
};

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
