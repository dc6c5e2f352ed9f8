import { Exposition } from '../kit/exposition.js';
import { type Strongroom, useStrongroom } from '../kit/strongroom.js';
import { withClient } from '../kit/tables.js';
import { until } from '../kit/until.js';

const strongroom: Strongroom = useStrongroom();
const READS = 60;
const WRITES = 30;

const WAITING = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and application_name = 'strongroom' and wait_event_type = 'Lock'`;

test('with the audit table locked, reads and changes are refused, and leave connections to all else meanwhile', async () => {
  const { admin } = strongroom;
  const project = await strongroom.seed.projectOf(admin);
  const place = { projectId: project.id, environment: 'dev' };
  await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'one' });
  const waiting = async (): Promise<number> =>
    new Exposition((await admin.anonymous.get('/metrics')).text).sum('strongroom_audit_queue_length');

  await withClient(strongroom.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('lock table audit_record in access exclusive mode');
    // Different requests: equal ones share one attempt.
    const reads = Array.from({ length: READS }, (_, index) =>
      admin.get(`/api/v4/secrets?${new URLSearchParams(place)}&limit=${index + 1}`),
    );
    await until('reads that wait for their record', 20_000, async () => (await waiting()) > READS / 2);
    // Three inserts, and the seals: whatever waits beyond them is a change.
    expect((await client.query<{ count: number }>(WAITING)).rows[0]?.count).toBeLessThanOrEqual(4);
    const writes = Array.from({ length: WRITES }, (_, index) =>
      index % 3 === 0
        ? admin.patch('/api/v4/secrets/KEY', { ...place, secretValue: 'two' })
        : admin.post(`/api/v4/secrets/KEY_${index}`, { ...place, secretValue: 'one' }),
    );
    await until('changes that wait for the lock', 20_000, async () => {
      return ((await client.query<{ count: number }>(WAITING)).rows[0]?.count ?? 0) > 4;
    });
    expect((await admin.get('/readyz')).status).toBe(200);
    expect(new Exposition((await admin.anonymous.get('/metrics')).text).sum('strongroom_database_up')).toBe(1);
    for (const reply of await Promise.all(reads)) expect(reply).toBeError(503, 'AUDIT_UNAVAILABLE');
    for (const { status } of await Promise.all(writes)) expect([503, 504]).toContain(status);
    await client.query('rollback');
  });

  const left = (await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`)).body.secrets;
  expect(left).toMatchObject([{ secretKey: 'KEY', secretValue: 'one', version: 1 }]);
});

describe('a change whose record meets a deadlock', () => {
  /** Once, as when another transaction holds the row of the project and waits for what the change holds. */
  const DEADLOCK = `
    create sequence attempts;
    create function refuse_first() returns trigger language plpgsql security definer as $$ begin
      if new.action = 'secret:create' and nextval('attempts') = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger refuse_first before insert on audit_record for each row execute function refuse_first()`;

  test('is run again, as at any other statement, and is made once', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.sql(DEADLOCK);
    try {
      const at = { projectId: project.id, environment: 'dev' };
      expect((await admin.post('/api/v4/secrets/KEY', { ...at, secretValue: 'v' })).status).toBe(200);
      expect(await strongroom.sql('select last_value::int from attempts')).toEqual([{ last_value: 2 }]);
      const rows = await strongroom.auditRows(`project_id = $1 and action = 'secret:create'`, [project.id]);
      expect(rows).toHaveLength(1);
    } finally {
      await strongroom.sql(
        'drop trigger refuse_first on audit_record; drop function refuse_first; drop sequence attempts',
      );
    }
  });
});
