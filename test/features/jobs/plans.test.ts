import type pg from 'pg';
import { COUNT_JOBS, LIST_JOBS, LIST_KINDS_OF_ORGANIZATION } from '../../../src/features/operations/jobs/job.sql.js';
import { listKinds } from '../../../src/kernel/jobs/job.sql.js';
import { migratedDatabase } from '../../kit/databases.js';
import { withClient } from '../../kit/tables.js';

const FILL = `
  insert into organization (id, name, slug) select md5('org' || o)::uuid, 'org ' || o, 'org-' || o from generate_series(1, 4) o;
  insert into job_kind (name) values ('kit:one'), ('kit:two');
  insert into job (id, kind, organization_id, dedupe_key, state, wake_at, finished_at, created_at)
  select gen_random_uuid(), case when n % 2 = 0 then 'kit:one' else 'kit:two' end, case when n % 5 > 0 then md5('org' || n % 5)::uuid end, n,
    state, case when state = 'waiting' then now() end, case when state <> 'waiting' then now() end, now() - n * interval '1 second'
  from generate_series(1, 30000) n, lateral (select case when n % 100 = 0 then 'failed' when n % 101 = 0 then 'waiting' else 'done' end as state) s;
  analyze job;`;

/** The plan that a connection uses for whatever values. */
async function planOf(client: pg.Client, text: string, parameters: number): Promise<string> {
  await client.query('set plan_cache_mode = force_generic_plan');
  await client.query(`prepare listed as ${text}`);
  const given = parameters === 0 ? '' : `(${Array(parameters).fill('null').join(', ')})`;
  const { rows } = await client.query(`explain execute listed${given}`);
  await client.query('deallocate listed');
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** Each with the indexes that give what it needs in the order in which it needs it. */
const STATEMENTS = [
  ['LIST_JOBS', LIST_JOBS({ isOfState: false }), ['job_organization_index', 'job_installation_index']],
  [
    'LIST_JOBS of a state',
    LIST_JOBS({ isOfState: true }),
    ['job_organization_state_index', 'job_installation_state_index'],
  ],
  ['COUNT_JOBS', COUNT_JOBS({ isOfState: false }), ['job_organization_index', 'job_installation_index']],
  [
    'COUNT_JOBS of a state',
    COUNT_JOBS({ isOfState: true }),
    ['job_organization_state_index', 'job_installation_state_index'],
  ],
  ['listKinds', listKinds, ['job_wake_index', 'job_failed_index']],
  ['LIST_KINDS_OF_ORGANIZATION', LIST_KINDS_OF_ORGANIZATION, ['job_organization_state_index']],
] as const;

test('jobs are listed and counted by indexes, and pages need no sorting, whatever is asked for', async () => {
  await withClient(await migratedDatabase(), async (client) => {
    await client.query(FILL);
    for (const [name, { text, params }, indexes] of STATEMENTS) {
      const plan = await planOf(client, text, Object.keys(params).length);
      for (const index of indexes) expect(plan).toContain(index);
      expect(plan).not.toMatch(/Seq Scan on job( |$)/m);
      if (name.startsWith('LIST_JOBS')) expect(plan).not.toMatch(/Sort +\(cost/);
    }
  });
});
