import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import type { Check } from './check.ts';
import { withInstallation } from './installation.ts';

const STARTS_WITHIN_MS = 15_000;
const AWAY_MS = 300_000;
/** In a brief run it is away only for as long as the jobs take. */
const BRIEF_MS = 6_000;
const KIND = 'jobs:delete-finished';

export const check: Check = {
  id: 'C26',
  title: "Agenda's table is gone for minutes, and due work starts all the same",
  fullTimes: 1,
  needsQuiet: true,
  run: () =>
    withInstallation(async (installation) => {
      const url = await installation.databaseUrl();
      const sql = (text: string, params: readonly unknown[] = []) =>
        withClient(url, async (client) => (await client.query(text, [...params])).rows);
      await sql('alter table agenda_jobs rename to away');
      const awayUntil = performance.now() + (process.argv.includes('--brief') ? BRIEF_MS : AWAY_MS);
      let jobs = 0;
      while (jobs === 0 || performance.now() < awayUntil) {
        jobs += 1;
        await sql(
          `insert into job (id, kind, dedupe_key, state, wake_at) values (gen_random_uuid(), $1, 'check ' || $2::text, 'waiting', now())`,
          [KIND, jobs],
        );
        await until('the job to be done', STARTS_WITHIN_MS, async () => {
          const rows = await sql(`select from job where state = 'done' and dedupe_key = 'check ' || $1::text`, [jobs]);
          return rows.length === 1;
        });
        await delay(100);
      }
      await sql('alter table away rename to agenda_jobs');
      const admin = await installation.admin();
      await until('the store', 30_000, async () => (await admin.get('/readyz')).body.jobs.connected);
      return `${jobs} jobs within ${STARTS_WITHIN_MS / 1_000} s each, and the store was reached again`;
    }),
};
