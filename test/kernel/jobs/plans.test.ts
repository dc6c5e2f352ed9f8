import type pg from 'pg';
import { claimJobs, claimJobsByIds, listTimes, listUpcomingTimes } from '../../../src/kernel/jobs/job.sql.js';
import { migratedDatabase } from '../../kit/databases.js';
import { withClient } from '../../kit/tables.js';

const FILL = `
  insert into job_kind (name) values ('kit:many'), ('kit:few');
  insert into job (id, kind, dedupe_key, state, wake_at, finished_at, fence)
  select gen_random_uuid(), 'kit:many', n, state, case when state = 'waiting' then now() end, case when state = 'done' then now() end, 1
  from generate_series(1, 20000) n, lateral (select case when n % 2 = 0 then 'done' else 'waiting' end as state) s;
  insert into job_attempt (job_id, fence, node, ended_at, outcome) select id, 1, id, now(), 'failed' from job;
  insert into job (id, kind, dedupe_key, state, wake_at) select gen_random_uuid(), 'kit:few', n, 'waiting', now() from generate_series(1, 3) n;
  analyze job; analyze job_attempt;`;

/** The plan that a connection uses for whatever values. */
async function planOf(client: pg.Client, text: string, values: string): Promise<string> {
  await client.query('set plan_cache_mode = force_generic_plan');
  await client.query(`prepare looked as ${text}`);
  const { rows } = await client.query(`explain execute looked(${values})`);
  await client.query('deallocate looked');
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('many jobs of one kind', () => {
  test('are claimed by indexes, and no other kind waits for them', async () => {
    await withClient(await migratedDatabase(), async (client) => {
      await client.query(FILL);
      const kinds = `'{kit:many,kit:few}'`;
      for (const [text, values] of [
        [claimJobs.text, `null, ${kinds}, '{false,false}', '{4,4}', '{30,30}', '{}', 0`],
        [claimJobsByIds.text, `null, ${kinds}, '{false,false}', '{4,4}', '{30,30}', '{}', '{}'`],
        [listTimes.text, `'{}'`],
        [listUpcomingTimes.text, `${kinds}, 5, 90`],
      ] as const)
        expect(await planOf(client, text, values)).not.toMatch(/Seq Scan on job(_attempt)?( |$)/m);
      const { rows } = await client.query<{ kind: string }>(claimJobs.text, [
        '11111111-1111-4111-8111-111111111111',
        ['kit:many', 'kit:few'],
        [false, false],
        [4, 4],
        [30, 30],
        [],
        0,
      ]);
      expect(rows.map(({ kind }) => kind).sort()).toEqual([...Array(3).fill('kit:few'), ...Array(4).fill('kit:many')]);
    });
  });
});
