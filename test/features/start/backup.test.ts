import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BackupError, type Header, readBackup, writeBackup } from '../../../src/backup/backup-file.js';
import { EXCLUDED_TABLES } from '../../../src/backup/tables.js';
import { migrations } from '../../../src/migrations/index.js';
import { Caller } from '../../kit/caller.js';
import { freshDatabase } from '../../kit/databases.js';
import { useStrongroom } from '../../kit/strongroom.js';
import { tableContents, withClient } from '../../kit/tables.js';
import { untilSealed } from '../../kit/trail.js';
import { until } from '../../kit/until.js';
import { verifyAudit } from '../../kit/verify-audit.js';

/** Tables that differ after a restore: it records itself, and pauses kinds of jobs. */
const CHANGED = ['audit_record', 'job_kind', ...EXCLUDED_TABLES];
/** Kinds that do not call other systems. */
/** A month of the audit trail that is still to come. */
const MONTH = `${new Date().getUTCFullYear() + 2}-01-01`;
const NOT_PAUSED = [
  ...[
    'access:delete-change-marks',
    'access:delete-ended-tokens',
    'audit-events:verify-trail',
    'audit:prepare-partitions',
  ],
  ...['certificates:delete-expired', 'jobs:delete-finished', 'jobs:refill-store', 'outgoing-events:follow'],
  ...['project-notices:find-undelivered', 'project-notices:find-unsent', 'project-notices:find-untold'],
  ...['project-reencryptions:reencrypt', 'secrets:digest-values'],
];
const DOCUMENTS = '{"documents":{}}';
const VALUE = 'a value that no backup shows';
/** A table with values that text easily spoils. */
const ODD = [
  `create table "odd ""table""" ("a b" jsonb, c text[], d timestamptz, e bytea)`,
  `insert into "odd ""table""" values ('null', array['x,"', null], '2026-01-01 00:00:00.123456+05', '\\x00ff')`,
  `insert into "odd ""table""" values (null, null, 'infinity', '')`,
];
const ODD_LINES = [
  String.raw`["null","{\"x,\\\"\",NULL}","2025-12-31 19:00:00.123456+00","\\x00ff"]`,
  String.raw`[null,null,"infinity","\\x"]`,
];

const textOf = async (path: string): Promise<string> => gunzipSync(await readFile(path)).toString();

const readAll = async (path: string): Promise<number> => {
  let parts = 0;
  for await (const part of readBackup(path)) parts += Object.keys(part).length;
  return parts;
};

/** The names that a version with a step for each change of the schema stored, as far as anything depends on them. */
const FORMER_STEPS = ['0001-foundation', '0082-accounts-of-debts'];

/** What a later step has changed: schedules are rows of jobs, which have them in this column, and not columns of kinds. */
const SCHEDULE = {
  table: 'job',
  column: 'every_seconds',
  before: { table: 'job_kind', columns: ['every_seconds', 'next_at'] },
};

/** Columns that later steps have added. */
const LATER_COLUMNS: Readonly<Record<string, string>> = {
  secret: 'value_changed_at',
  secret_version: 'value_digest',
  personal_secret: 'value_digest',
  access_token: 'session_claims',
};

/** Tables that they have added. */
const LATER_TABLES: readonly string[] = [
  'all_projects_membership',
  'identity_oidc_auth',
  'identity_kubernetes_auth',
  'used_login_token',
];

type StoredTables = Map<string, { columns: string[]; lines: string[] }>;

/** Schedules are left out of the jobs of a former version; so are their attempts. */
function withoutAttemptsOfLeftOut(tables: StoredTables): void {
  const [jobs, attempts] = [tables.get('job'), tables.get('job_attempt')];
  if (attempts === undefined) return;
  const ids = jobs?.lines.map((line) => JSON.parse(line)[jobs.columns.indexOf('id')]) ?? [];
  attempts.lines = attempts.lines.filter((line) => ids.includes(JSON.parse(line)[attempts.columns.indexOf('job_id')]));
}

/** A backup with other names of migrations, and what a version had that stored them: a table, and another order of columns. */
async function writeFormer(from: string, to: string, migrations: readonly string[]): Promise<void> {
  let header: Header | undefined;
  const tables: StoredTables = new Map();
  for await (const part of readBackup(from)) {
    if ('header' in part) header = part.header;
    if (!('table' in part) || LATER_TABLES.includes(part.table.table)) continue;
    const { table, columns } = part.table;
    const added = table === SCHEDULE.table ? columns.indexOf(SCHEDULE.column) : -1;
    const later = LATER_COLUMNS[table] === undefined ? -1 : columns.indexOf(LATER_COLUMNS[table]);
    const removed = table === SCHEDULE.before.table ? SCHEDULE.before.columns : [];
    const rows = part.lines.map((line) => JSON.parse(line) as (string | null)[]);
    const former = <T>(row: readonly T[]): T[] =>
      row.filter((_, index) => ![added, later].includes(index)).toReversed();
    const lines = rows
      .filter((row) => added < 0 || row[added] === null)
      .map((row) => JSON.stringify([...removed.map(() => null), ...former(row)]));
    tables.set(table, {
      columns: [...removed, ...former(columns)],
      lines: [...(tables.get(table)?.lines ?? []), ...lines],
    });
  }
  withoutAttemptsOfLeftOut(tables);
  tables.set('secret_reseal', { columns: ['project_id', 'organization_id'], lines: [] });
  const { format: _format, version: _version, ...rest } = header as Header;
  async function* written() {
    for (const [table, { columns, lines }] of tables)
      yield {
        table,
        columns,
        rows: (async function* () {
          yield lines;
        })(),
      };
  }
  await writeBackup(to, { ...rest, migrations: [...migrations] }, written());
}

describe('a backup', () => {
  const strongroom = useStrongroom();
  let home: string;
  let backup: string;
  let project: { id: string };
  let token: string;
  let before: Record<string, string[]>;
  let restored: Awaited<ReturnType<typeof restore>>;
  const where = () => ({ DATA_DIR: join(home, 'data') });

  const restore = async (file: string, tokens: string, env: Record<string, string> = {}) => {
    const databaseUrl = env.DATABASE_URL ?? (await freshDatabase());
    const settings = { ...where(), DATABASE_URL: databaseUrl, ...env };
    return { databaseUrl, ...(await strongroom.run('restore', [file, '--tokens', tokens], settings)) };
  };
  /** From then on the service writes nothing by itself: seals and jobs that it adds after the backup would differ. */
  const restOfService = async (): Promise<void> => {
    await strongroom.sql(
      `update job set wake_at = now() + interval '1 day' where every_seconds is not null and finished_at is not null`,
    );
    await until('the service to be at rest', 60_000, async () => {
      await untilSealed((text) => strongroom.sql(text));
      const found = await tableContents(strongroom.databaseUrl);
      // Longer than what is asked for after a commit, and a seal, may be under way.
      await delay(2_500);
      return JSON.stringify(await tableContents(strongroom.databaseUrl)) === JSON.stringify(found);
    });
  };
  const tablesIn = async (databaseUrl: string): Promise<string[]> => Object.keys(await tableContents(databaseUrl));

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'strongroom-backup-'));
    backup = join(home, 'backup.gz');
    const { admin, project: made } = await strongroom.seed.project();
    project = made;
    token = admin.token as string;
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    await admin.post('/api/v4/secrets/KEPT', { ...at, secretValue: VALUE });
    await admin.patch('/api/v4/secrets/KEPT', { ...at, secretComment: 'a\\n"b"\n\tc, 五 \u2028' });
    await writeFile(join(home, 'documents.json'), DOCUMENTS);
    await strongroom.sql('select add_audit_partition($1::date)', [MONTH]);
    await strongroom.sql(`insert into job_attempt (job_id, fence, node, ended_at, outcome)
      select id, 0, gen_random_uuid(), now(), 'done' from job where every_seconds is not null limit 1`);
    await restOfService();
    before = await tableContents(strongroom.databaseUrl);
    const taken = await strongroom.run('backup', [backup], { PERSISTED_DOCUMENTS: join(home, 'documents.json') });
    expect([taken.code, taken.stderr]).toEqual([0, '']);
    restored = await restore(backup, 'keep');
    expect([restored.code, restored.stderr]).toEqual([0, '']);
  });

  afterAll(async () => {
    await rm(home, { recursive: true, force: true });
  });

  test('is a file for its owner alone, without values and without the root key, and replaces no other', async () => {
    expect(((await stat(backup)).mode & 0o777).toString(8)).toBe('600');
    const text = await textOf(backup);
    const key = Buffer.from(strongroom.rootKey, 'base64').toString('hex');
    for (const secret of [VALUE, Buffer.from(VALUE).toString('hex'), strongroom.rootKey, key, strongroom.token])
      expect(text.includes(secret)).toBe(false);
    const content = await readFile(backup);
    expect(await strongroom.run('backup', [backup], where())).toMatchObject({ code: 1 });
    expect(await readFile(backup)).toEqual(content);
    expect((await readdir(home)).sort()).toEqual(['backup.gz', 'data', 'documents.json']);
  });

  test('restores the same rows in every table, and the persisted documents', async () => {
    const after = await tableContents(restored.databaseUrl);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const [table, rows] of Object.entries(before))
      if (!CHANGED.includes(table)) expect([table, after[table]]).toEqual([table, rows]);
    expect(after.audit_record).toEqual(expect.arrayContaining(before.audit_record as string[]));
    expect(await readFile(join(home, 'data/persisted-documents.json'), 'utf8')).toBe(DOCUMENTS);
    const { rows } = await withClient(restored.databaseUrl, (client) =>
      client.query(
        `select facts, isfinite(expires_on) as ends from audit_record where action = 'installation:restore'`,
      ),
    );
    expect(rows).toMatchObject([{ facts: { revokedTokenCount: 0 }, ends: false }]);
  });

  test('restores a database on which a service continues, with jobs that call others paused', async () => {
    const node = await strongroom.startSecondNode({ env: { DATABASE_URL: restored.databaseUrl } });
    try {
      const { body } = await node.caller(token).get(`/api/v4/secrets/KEPT?projectId=${project.id}&environment=dev`);
      expect(body.secret.secretValue).toBe(VALUE);
      const search = { value: VALUE, includeFormerVersions: true };
      const found = (await node.caller(token).post('/api/v1/secrets/with-value', search)).body;
      expect([found.isComplete, found.secrets.length]).toEqual([true, 2]);
      const admin = node.caller(strongroom.token);
      const { jobKinds } = (await admin.get('/api/v1/job-kinds')).body;
      const running = jobKinds.filter(({ isPaused }: { isPaused: boolean }) => !isPaused);
      expect(running.map(({ name }: { name: string }) => name)).toEqual(NOT_PAUSED);
      const path = '/api/v1/job-kinds/secret-rotations:find-due/resume';
      expect((await admin.post(path, {})).body.jobKind).toMatchObject({ isPaused: false });
    } finally {
      await node.stop();
    }
  });

  test('restores an audit trail that is intact and has the head that the backup had', async () => {
    const anchor = /--anchor (\S+)`/.exec(restored.stdout)?.[1] as string;
    const settings = { ...where(), DATABASE_URL: restored.databaseUrl, ROOT_KEY: strongroom.rootKey };
    expect(await verifyAudit(settings, '--anchor', anchor)).toMatchObject({ code: 0, faults: [], differences: [] });
  });

  test('has every table but those that are listed, and text of any form', async () => {
    const file = join(home, 'odd.gz');
    for (const statement of ODD) await strongroom.sql(statement);
    const tables = await strongroom.sql<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
    );
    expect((await strongroom.run('backup', [file], where())).code).toBe(0);
    await strongroom.sql(`drop table "odd ""table"""`);
    const lines = (await textOf(file)).trimEnd().split('\n');
    const held: string[] = JSON.parse(lines.at(-1) as string).tables.map(({ name }: { name: string }) => name);
    const wanted = tables.map(({ name }) => name).filter((name) => !EXCLUDED_TABLES.includes(name));
    expect([...held].sort()).toEqual(wanted.sort());
    expect(lines).toEqual(expect.arrayContaining(ODD_LINES));
  });

  test('has the months of the audit trail, protected as the original, and runs no SQL that it names', async () => {
    const changing = withClient(restored.databaseUrl, (client) =>
      client.query(`update audit_record_${MONTH.slice(0, 7).replace('-', '_')} set action = 'edited'`),
    );
    await expect(changing).rejects.toThrow('the audit trail is only ever added to');
    const text = await textOf(backup);
    const altered = text.replace(`('${MONTH}')`, `((select '${MONTH}'::date))`);
    expect(altered).not.toBe(text);
    await writeFile(join(home, 'sql.gz'), gzipSync(altered));
    const { code, databaseUrl } = await restore(join(home, 'sql.gz'), 'keep');
    expect([code, await tablesIn(databaseUrl)]).toEqual([1, []]);
  });

  test('is refused when it is not whole or has a table that no migration makes, and then the database stays empty', async () => {
    const content = await readFile(backup);
    const lines = (await textOf(backup)).split('\n');
    const row = lines.findIndex((line) => line.startsWith('['));
    const files: Record<string, Buffer> = {
      'cut.gz': content.subarray(0, -100),
      'no-manifest.gz': gzipSync(`${lines.slice(0, -2).join('\n')}\n`),
      'row-missing.gz': gzipSync(lines.toSpliced(row, 1).join('\n')),
      'row-edited.gz': gzipSync(lines.join('\n').replace('"Default"', '"Edited"')),
      'other.gz': Buffer.from('no backup'),
    };
    for (const [name, bytes] of Object.entries(files)) {
      await writeFile(join(home, name), bytes);
      await expect(readAll(join(home, name))).rejects.toThrow(BackupError);
    }
    const databaseUrl = await freshDatabase();
    for (const name of ['odd.gz', 'row-missing.gz']) {
      const { code, stderr } = await restore(join(home, name), 'keep', { DATABASE_URL: databaseUrl });
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^strongroom: the [^\n]*\. Nothing was restored\.\n$/)]);
      expect(await tablesIn(databaseUrl)).toEqual([]);
    }
  });

  test('is said in words to be missing, before a database is made for it; a folder for it as well', async () => {
    const dataDir = join(home, 'never-made');
    const absent = await strongroom.run('restore', [join(home, 'absent.gz'), '--tokens', 'keep'], {
      DATA_DIR: dataDir,
    });
    const line = (event: string, path: string) => `strongroom: ${event}: ${path}: there is no such file or directory\n`;
    expect([absent.code, absent.stderr]).toEqual([1, line('restore failed', join(home, 'absent.gz'))]);
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
    const nowhere = await strongroom.run('backup', [join(home, 'absent', 'backup.gz')]);
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      line('backup failed', join(home, 'absent', 'backup.gz.partial')),
    ]);
    const folder = await restore(home, 'keep');
    expect([folder.code, folder.stderr]).toEqual([1, 'strongroom: restore failed: it is a directory\n']);
  });

  test('takes persisted documents that are there already, as after a restore that was cut off before its commit', async () => {
    const { code, stdout } = await restore(backup, 'keep', { PERSISTED_DOCUMENTS: join(home, 'documents.json') });
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('was not changed')]);
  });

  test('of the last version with a step for each change is migrated, and one of an older or newer version is refused', async () => {
    const restoredWith = async (name: string, migrations: readonly string[]) => {
      await writeFormer(backup, join(home, name), migrations);
      return restore(join(home, name), 'keep');
    };
    const former = await restoredWith('former.gz', FORMER_STEPS);
    expect([former.code, former.stderr]).toEqual([0, '']);
    // Of secrets of then nobody knows since when they have their values: no longer than they are as they are.
    const secrets = before.secret?.map((row) => row.replace(/("[^"]*"),"[^"]*"\)$/, '$1,$1)'));
    expect((await tableContents(former.databaseUrl)).secret).toEqual(secrets);
    const { rows } = await withClient(former.databaseUrl, (client) =>
      client.query('select name from schema_migration order by id'),
    );
    expect(rows).toEqual(migrations.map(({ name }) => ({ name })));

    for (const [name, steps, line] of [
      [
        'older.gz',
        FORMER_STEPS.slice(0, 1),
        /^strongroom: the backup is of a version [^\n]* commit 131bf3a9, [^\n]*\n$/,
      ],
      ['newer.gz', [...migrations.map((it) => it.name), '9999-later'], /of a newer version/],
    ] as const) {
      const refused = await restoredWith(name, steps);
      expect([refused.code, refused.stderr]).toEqual([78, expect.stringMatching(line)]);
      expect(await tablesIn(refused.databaseUrl)).toEqual([]);
    }
  });

  test('is refused with another root key, for a database that is not empty, and without a word about tokens', async () => {
    const other = await restore(backup, 'keep', { ROOT_KEY: Buffer.alloc(32, 7).toString('base64') });
    expect([other.code, other.stderr]).toEqual([78, expect.stringContaining('ROOT_KEY is not the key')]);
    expect(await tablesIn(other.databaseUrl)).toEqual([]);
    const { organization } = await tableContents(strongroom.databaseUrl);
    const used = await restore(backup, 'keep', { DATABASE_URL: strongroom.databaseUrl });
    expect([used.code, used.stderr]).toEqual([78, expect.stringContaining('the database is not empty')]);
    expect((await tableContents(strongroom.databaseUrl)).organization).toEqual(organization);
    expect(await restore(backup, 'some')).toMatchObject({ code: 2, stdout: '' });
  });

  test('revokes all tokens when that is asked for, and lets a new admin in', async () => {
    const { code, databaseUrl, stdout } = await restore(backup, 'revoke');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Revoked [1-9]\d* tokens and /m)]);
    const recovered = await strongroom.run('recover-admin', [], { ...where(), DATABASE_URL: databaseUrl });
    const node = await strongroom.startSecondNode({ env: { DATABASE_URL: databaseUrl } });
    try {
      expect(await node.caller(strongroom.token).get('/api/v1/projects')).toBeError(401, 'TOKEN_REVOKED');
      expect((await new Caller(node.url, recovered.stdout.trim()).get('/api/v1/projects')).status).toBe(200);
    } finally {
      await node.stop();
    }
  });
});
