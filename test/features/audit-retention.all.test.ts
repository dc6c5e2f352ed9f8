import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBackup } from '../../src/backup/backup-file.js';
import { EventStreamClient } from '../kit/event-stream.js';
import { MAKE_DUE } from '../kit/schedules.js';
import { useStrongroom } from '../kit/strongroom.js';
import { withClient } from '../kit/tables.js';
import { tamper, untilSealed } from '../kit/trail.js';
import { until } from '../kit/until.js';

const WITHIN_MS = 30_000;
/** So many days ago rows end, as if they had been recorded then. */
const AGO_DAYS = -70;

const strongroom = useStrongroom({ AUDIT_RETENTION_DAYS: '400', AUDIT_READS_RETENTION_DAYS: '40' });

/** The month in which a row ends that is recorded now and kept so many days. */
async function monthIn(days: number): Promise<string> {
  const [row] = await strongroom.sql(
    `select to_char(date_trunc('month', (now() at time zone 'UTC') + make_interval(days => $1)) + interval '1 month', 'YYYY-MM-DD') as month`,
    [days],
  );
  return row?.month;
}

const hasMonth = async (month: string): Promise<boolean> =>
  (await strongroom.sql('select from audit_partition where expires_on = $1', [month])).length === 1;

/** By action: when the rows of a project end, null for never. */
async function endsOf(projectId: string): Promise<Map<string, string | null>> {
  const rows = await strongroom.sql<{ action: string; month: string | null }>(
    `select action, case when isfinite(expires_on) then to_char(expires_on, 'YYYY-MM-DD') end as month
     from audit_record where project_id = $1 order by sequence`,
    [projectId],
  );
  return new Map(rows.map(({ action, month }) => [action, month]));
}

/** A partition of a month that is past: nobody but the owner of the tables can add it. */
const addPast = (month: string) =>
  strongroom.sql(`do $$ declare name text := 'audit_record_${month.slice(0, 7).replace('-', '_')}'; begin
    execute format('create table %I (like audit_record including defaults including constraints including indexes)', name);
    execute format('create trigger audit_record_append_only before update or delete or truncate on %I
      for each statement execute function refuse_audit_change()', name);
    execute format('alter table audit_record attach partition %I for values in (%L)', name, '${month}');
    insert into audit_partition values ('${month}'); end $$`);

const expire = () => strongroom.sql(MAKE_DUE, ['audit:expire']);

test('records are kept as long as the settings say by their class', async () => {
  const { admin, project } = await strongroom.seed.project();
  await admin.get(`/api/v1/projects/${project.id}`);
  expect(await endsOf(project.id)).toMatchObject(
    new Map([
      ['project:create', await monthIn(400)],
      ['project:get', await monthIn(40)],
    ]),
  );
});

test('a project has its own retention for all classes; the change of it is kept, and old records stay as they are', async () => {
  const { admin, project } = await strongroom.seed.project();
  const path = `/api/v1/projects/${project.id}`;
  const month = await monthIn(200);
  expect(await hasMonth(month)).toBe(false);

  const { body } = await admin.patch(path, { auditLogsRetentionDays: 200 });

  expect(body.project.auditLogsRetentionDays).toBe(200);
  await until('a partition for the month', WITHIN_MS, () => hasMonth(month));
  await admin.get(path);
  await admin.patch(path, { description: 'words' });
  const ends = await strongroom.sql(
    `select action, isfinite(expires_on) as ends, to_char(expires_on, 'YYYY-MM-DD') = $2 as own from audit_record
     where project_id = $1 and action in ('project:create', 'project:update', 'project:get') order by sequence`,
    [project.id, month],
  );
  expect(ends).toEqual([
    { action: 'project:create', ends: true, own: false },
    { action: 'project:update', ends: false, own: null },
    { action: 'project:get', ends: true, own: true },
    { action: 'project:update', ends: true, own: true },
  ]);
});

test('the retention of a project is a number of days that only its admins set, and null is the default', async () => {
  const { admin, project } = await strongroom.seed.project();
  const path = `/api/v1/projects/${project.id}`;
  for (const auditLogsRetentionDays of [0, 3_651, 1.5, '30'])
    expect(await admin.patch(path, { auditLogsRetentionDays })).toBeError(422, 'VALIDATION_FAILED');
  const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
  expect(await developer.patch(path, { auditLogsRetentionDays: 30 })).toBeError(403, 'PERMISSION_DENIED');
  await admin.patch(path, { auditLogsRetentionDays: 400 });
  expect((await admin.patch(path, { auditLogsRetentionDays: null })).body.project.auditLogsRetentionDays).toBeNull();
});

test('only months to come are added, and only those that are past and accounted for are dropped', async () => {
  const [past, soon] = [await monthIn(AGO_DAYS - 40), await monthIn(40)];
  const call = (name: string, month: string | null) => strongroom.sql(`select ${name}($1::date)`, [month]);
  for (const month of [past, null, soon.replace(/01$/, '02'), '2999-01-01', 'infinity'])
    await expect(call('add_audit_partition', month)).rejects.toThrow('not the first day of a month to come');
  for (const month of [soon, null, 'infinity'])
    await expect(call('drop_audit_partition', month)).rejects.toThrow('the month is not past');
  for (const month of [past, '-infinity'])
    await expect(call('drop_audit_partition', month)).rejects.toThrow('no statement accounts for its rows');
  expect(await hasMonth(soon)).toBe(true);
});

test('nobody but the owner of the trail calls what drops months, and no temporary table stands for one of ours', async () => {
  const functions = await strongroom.sql(
    `select proname, prosecdef, proconfig, has_function_privilege('pg_monitor', oid, 'execute') as "isCallable"
     from pg_proc where proname ~ '^(make|add|drop)_audit_partition$' order by proname`,
  );
  expect(functions).toMatchObject([
    { proname: 'add_audit_partition', prosecdef: true, isCallable: false },
    { proname: 'drop_audit_partition', prosecdef: true, isCallable: false },
    { proname: 'make_audit_partition', prosecdef: false, isCallable: false },
  ]);
  for (const { proconfig } of functions) expect(proconfig).toContain('search_path=public, pg_temp');
});

test('a month that is past is dropped whole, and told from a deletion; secrets still match the trail', async () => {
  const { admin, project } = await strongroom.seed.project();
  const feed = await EventStreamClient.open(admin, '/api/v1/events?kinds=secret');
  const [begun] = await feed.count(1);
  feed.close();
  const month = await monthIn(AGO_DAYS);
  await addPast(month);
  await strongroom.sql('update project set audit_logs_retention_days = $2 where id = $1', [project.id, AGO_DAYS]);
  const at = (key: string) => `/api/v4/secrets/${key}`;
  const place = { projectId: project.id, environment: 'dev', secretPath: '/' };
  for (const key of ['STAYS', 'CHANGES', 'GOES']) await admin.post(at(key), { ...place, secretValue: 'one' });
  await admin.delete(at('GOES'), place);
  await strongroom.sql('update project set audit_logs_retention_days = null where id = $1', [project.id]);
  await admin.patch(at('CHANGES'), { ...place, secretValue: 'two' });
  await untilSealed(strongroom.sql);
  const [ended] = await strongroom.sql('select count(*)::integer as count from audit_record where expires_on = $1', [
    month,
  ]);
  expect(ended?.count).toBe(4);
  const before = await strongroom.verifyAudit();
  expect(before).toMatchObject({ code: 0, faults: [], differences: [], expired: 0 });

  await expire();
  await until('the month to be dropped', WITHIN_MS, async () => !(await hasMonth(month)));
  await untilSealed(strongroom.sql);

  const after = await strongroom.verifyAudit();
  expect(after).toMatchObject({ code: 0, faults: [], differences: [], expired: 4 });
  expect(
    await strongroom.sql(`select to_regclass('audit_record_' || to_char($1::date, 'YYYY_MM')) as found`, [month]),
  ).toEqual([{ found: null }]);
  // Who follows the changes must not take what is gone for nothing.
  const resumed = await EventStreamClient.open(admin, `/api/v1/events?kinds=secret&after=${begun?.id}`);
  const [reset] = await resumed.count(1);
  resumed.close();
  expect(reset).toMatchObject({ event: 'reset', data: { resetReason: 'position-expired' } });
  const continued = await EventStreamClient.open(admin, `/api/v1/events?kinds=secret&after=${reset?.id}`);
  await admin.patch(at('STAYS'), { ...place, secretComment: 'later' });
  expect((await continued.count(1))[0]).toMatchObject({ event: 'change', data: { secretKey: 'STAYS' } });
  continued.close();
  const own = await strongroom.sql(
    `select action, class, facts, expires_on = 'infinity' as kept from audit_record
     where organization_id = (select organization_id from project where id = $1) and action like 'audit-trail:%' order by sequence`,
    [project.id],
  );
  expect(own).toEqual([
    { action: 'audit-trail:keep-states', class: 'change', kept: true, facts: { month, states: expect.any(Array) } },
    {
      action: 'audit-trail:expire',
      class: 'change',
      kept: true,
      facts: { month, count: 4, newest: expect.any(String) },
    },
  ]);
  // The one that stays; of the deleted one its creation, if its history is kept, and its deletion.
  expect(own[0]?.facts.states.some((state: string) => /:1:.+/.test(state))).toBe(true);

  // Without the statement, or with another one, they were deleted.
  await strongroom.sql('create table kept as select * from audit_expiry');
  await tamper(strongroom.sql, 'delete from audit_expiry');
  const deleted = await strongroom.verifyAudit();
  expect(deleted.code).toBe(1);
  expect(deleted.faults).toHaveLength(4);
  expect(deleted.faults.every((fault) => /^row \d+: deleted$/.test(fault))).toBe(true);
  await tamper(
    strongroom.sql,
    'insert into audit_expiry select expires_on, rows + 1, digest, expired_at, mac from kept',
  );
  expect((await strongroom.verifyAudit()).faults).toContain(
    `expiry ${month}: edited, or not created with this root key`,
  );
  await tamper(
    strongroom.sql,
    'delete from audit_expiry',
    'insert into audit_expiry select * from kept',
    'drop table kept',
  );
  // A secret that is set back is still found by what was recorded anew.
  await strongroom.sql(`update secret set key = 'OTHER' where project_id = $1 and key = 'STAYS'`, [project.id]);
  const differing = await strongroom.verifyAudit();
  expect(differing.faults).toEqual([]);
  expect(differing.differences).toEqual([expect.stringContaining('its contents, name or location')]);
});

test('a row that was moved to a month that ends is found before and after the month is dropped', async () => {
  const { admin, project } = await strongroom.seed.project();
  const month = await monthIn(AGO_DAYS - 40);
  await addPast(month);
  await admin.get(`/api/v1/projects/${project.id}`);
  await untilSealed(strongroom.sql);
  const [row] = await strongroom.sql(
    `select sequence, id from audit_record where project_id = $1 and action = 'project:create'`,
    [project.id],
  );
  await tamper(strongroom.sql, `update audit_record set expires_on = '${month}' where sequence = ${row?.sequence}`);
  expect((await strongroom.verifyAudit()).faults).toEqual([
    `row ${row?.sequence} (${row?.id}): its time or end was edited, or it replaces another row`,
  ]);

  await expire();
  await until('the month to be dropped', WITHIN_MS, async () => !(await hasMonth(month)));
  await untilSealed(strongroom.sql);

  expect((await strongroom.verifyAudit()).faults).toEqual(
    expect.arrayContaining([
      `row ${row?.sequence}: deleted`,
      `expiry ${month}: its rows were not those that were sealed`,
    ]),
  );
});

test('a backup that waits for a table while a month is dropped has the statement about the month', async () => {
  const { admin, project } = await strongroom.seed.project();
  const month = await monthIn(AGO_DAYS - 80);
  await addPast(month);
  await strongroom.sql('update project set audit_logs_retention_days = $2 where id = $1', [project.id, AGO_DAYS - 80]);
  await admin.get(`/api/v1/projects/${project.id}`);
  await untilSealed(strongroom.sql);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-backup-'));
  const file = join(folder, 'backup');

  const taken = await withClient(strongroom.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('lock table app_connection in access exclusive mode');
    const taking = strongroom.run('backup', [file]);
    await until('the backup to wait', WITHIN_MS, async () => {
      const waiting = await strongroom.sql(
        `select from pg_locks where relation = 'app_connection'::regclass and not granted`,
      );
      return waiting.length > 0;
    });
    await expire();
    await until('the month to be dropped', WITHIN_MS, async () => !(await hasMonth(month)));
    await client.query('rollback');
    return taking;
  });

  expect(taken).toMatchObject({ code: 0 });
  const lines = { audit_record: 0, audit_expiry: 0 };
  for await (const part of readBackup(file)) {
    if (!('table' in part) || !(part.table.table in lines)) continue;
    const ofMonth = part.lines.filter((line) => line.includes(`"${month}"`));
    lines[part.table.table as keyof typeof lines] += ofMonth.length;
  }
  expect(lines).toEqual({ audit_record: 0, audit_expiry: 1 });
  await rm(folder, { recursive: true });
});
