import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Caller } from '../kit/caller.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import type { Check } from './check.ts';
import { withPostgres } from './installation.ts';
import { type StoreApart, withStoreApart } from './store-apart.ts';

const STARTS_WITHIN_MS = 15_000;
const REACHED_WITHIN_MS = 30_000;
const AWAY_MS = 300_000;
/** In a brief run it is away only for as long as the jobs take. */
const BRIEF_MS = 6_000;
const KIND = 'jobs:delete-finished';

export const check: Check = {
  id: 'C26',
  title: 'the store of JOBS_URL is away for minutes, and due work starts all the same',
  fullTimes: 1,
  needsQuiet: true,
  run: (_, given) => (given === null ? withStoreApart('postgres', losing) : losing(given)),
};

const losing = (store: StoreApart): Promise<string> =>
  withPostgres(async (freshDatabase) => {
    const url = await freshDatabase('service');
    const sql = (text: string, params: readonly unknown[] = []) =>
      withClient(url, async (client) => (await client.query(text, [...params])).rows);
    const service = await Service.start({
      env: { DATABASE_URL: url, ROOT_KEY: randomBytes(32).toString('base64') },
    });
    const connected = (isConnected: boolean) =>
      until(`the store to be connected: ${isConnected}`, REACHED_WITHIN_MS, async () => {
        const { body } = await new Caller(service.url, null).get('/readyz');
        return body.jobs.connected === isConnected;
      });
    let jobs = 0;
    const job = async () => {
      jobs += 1;
      await sql(
        `insert into job (id, kind, dedupe_key, state, wake_at) values (gen_random_uuid(), $1, 'check ' || $2::text, 'waiting', now())`,
        [KIND, jobs],
      );
      await until('the job to be done', STARTS_WITHIN_MS, async () => {
        const rows = await sql(`select from job where state = 'done' and dedupe_key = 'check ' || $1::text`, [jobs]);
        return rows.length === 1;
      });
    };
    try {
      await connected(true);
      await store.goAway();
      const awayUntil = performance.now() + (process.argv.includes('--brief') ? BRIEF_MS : AWAY_MS);
      await job();
      await connected(false);
      while (performance.now() < awayUntil) {
        await job();
        await delay(100);
      }
      await store.comeBack();
      await connected(true);
      await job();
      const lost = await sql('select from job where attempts > 1 and every_seconds is null');
      if (lost.length > 0) throw new Error(`${lost.length} jobs took more than one attempt`);
      return `${jobs} jobs within ${STARTS_WITHIN_MS / 1_000} s each, once each, and the store was reached again`;
    } finally {
      await service.kill();
      await service.dispose();
    }
  });
