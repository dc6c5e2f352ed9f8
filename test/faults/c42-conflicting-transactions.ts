import pg from 'pg';
import type { Caller } from '../kit/caller.ts';
import { graphqlOperations } from '../kit/operations/graphql.ts';
import type { Operation } from '../kit/operations/operation.ts';
import { restOperations } from '../kit/operations/rest-requests.ts';
import type { Seed } from '../kit/seed.ts';
import { withClient } from '../kit/tables.ts';
import type { Sql } from '../kit/trail.ts';
import { until } from '../kit/until.ts';
import { seedWorld } from '../kit/world.ts';
import { type Check, expectThat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';
import { untilWhole } from './steady-writers.ts';

const DEADLOCKS = 100;
const AT_ONCE = 10;

/** The first record of a change meets a serialization failure, the next a deadlock. */
const FAIL_TWICE = `
  create sequence attempts;
  create function fail_twice() returns trigger language plpgsql security definer as $$ declare attempt bigint; begin
    if new.class is distinct from 'change' or new.request_id is null then return new; end if;
    attempt := nextval('attempts');
    if attempt = 1 then raise exception 'refused' using errcode = '40001'; end if;
    if attempt = 2 then raise exception 'refused' using errcode = '40P01'; end if;
    return new;
  end $$;
  create trigger fail_twice before insert on audit_record for each row execute function fail_twice()`;

/** Sends one change that fails twice. @returns how often its record was written, with the attempts that failed */
async function sendOnce(operation: Operation, seed: Seed, sql: Sql): Promise<number> {
  const { world, admin } = await seedWorld(seed, operation.things);
  await sql(`select setval('attempts', 1, false)`);
  const reply = await operation.send(admin, world);
  const isDone = reply.status === 200 && reply.body?.errors === undefined;
  expectThat(isDone, `${operation.name} is answered ${reply.status}: ${reply.text}`);
  const [row] = (await sql(
    `select (select count(*)::int from audit_record where request_id = '${reply.headers['x-request-id']}' and action = '${operation.audit}') as count,
       (select case when is_called then last_value else 0 end::int from attempts) as attempts`,
  )) as { count: number; attempts: number }[];
  expectThat(row?.count === 1, `${operation.name} left ${row?.count} records`);
  return row.attempts;
}

/** A change that holds its project, and somebody else who holds its secret and wants the project. */
async function deadlock(installation: Installation, admin: Caller, seed: Seed): Promise<void> {
  const project = await seed.projectOf(admin);
  const place = { projectId: project.id, environment: 'dev' };
  const path = '/api/v4/secrets/KEY';
  const made = await admin.post(path, { ...place, secretValue: 'one' });
  const secretId = made.body.secret.id;
  await withClient(await installation.databaseUrl(), async (client) => {
    await client.query('begin');
    await client.query('select 1 from secret where id = $1 for update', [secretId]);
    const change = admin.patch(path, { ...place, secretValue: 'two' });
    await until('the change to wait', 2_500, async () => {
      const blocked = await client.query(
        'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
      );
      return blocked.rows.length > 0;
    });
    // One of both is chosen to fail.
    await client.query('select 1 from project where id = $1 for update', [project.id]).catch(() => undefined);
    await client.query('rollback');
    const reply = await change;
    expectThat(reply.status === 200, `a change in a deadlock is answered ${reply.status}: ${reply.text}`);
  });
  const { body } = await admin.get(`${path}?${new URLSearchParams(place)}`);
  expectThat(
    body.secret?.secretValue === 'two' && body.secret.version === 2,
    'a change in a deadlock is not there once',
  );
}

export const check: Check = {
  id: 'C42',
  title: 'every change meets conflicting transactions',
  fullTimes: 1,
  needsQuiet: true,
  run: () =>
    withInstallation(
      async (installation) => {
        const pool = new pg.Pool({ connectionString: await installation.databaseUrl(), max: 1 });
        const sql: Sql = async (text) => (await pool.query(text)).rows;
        try {
          const [seed, first] = [await installation.seed(), await installation.admin()];
          await sql(FAIL_TWICE);
          await sql(`select setval('attempts', 10)`);
          const changes = [...restOperations(), ...graphqlOperations()].filter(
            ({ changes, needsHost }) => changes && !needsHost,
          );
          const faults: string[] = [];
          let forced = 0;
          for (const operation of changes) {
            await sql(`select setval('attempts', 10)`);
            const attempts = await sendOnce(operation, seed, sql).catch(
              (error: Error) => void faults.push(error.message),
            );
            if ((attempts ?? 0) >= 3) forced += 1;
          }
          expectThat(faults.length === 0, `${faults.length} changes failed:\n${faults.join('\n')}`);
          await sql('drop trigger fail_twice on audit_record; drop function fail_twice; drop sequence attempts');
          for (let begun = 0; begun < DEADLOCKS; begun += AT_ONCE)
            await Promise.all(Array.from({ length: AT_ONCE }, () => deadlock(installation, first, seed)));
          await untilWhole(first);
          return `${changes.length} changes, ${forced} of them forced to fail twice, 0 errors; ${DEADLOCKS} deadlocks, 0 errors`;
        } finally {
          await pool.end();
        }
      },
      { ALLOW_PRIVATE_TARGETS: 'true', GRAPHQL_LIMITS: 'tokens=4000,cost=100000,objects=100000' },
    ),
};
