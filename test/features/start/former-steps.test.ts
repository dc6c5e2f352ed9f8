import { Database } from '../../../src/kernel/database/database.js';
import { migrate, refuseOtherSchema } from '../../../src/kernel/database/migrate.js';
import { MEMBERS } from '../../../src/migrations/baseline/members.js';
import { migrations } from '../../../src/migrations/index.js';
import type { Caller } from '../../kit/caller.js';
import { useStrongroom } from '../../kit/strongroom.js';
import { tableContents } from '../../kit/tables.js';

const FIRST = '0001-foundation';
const LAST = '0082-accounts-of-debts';
const NAMES = migrations.map(({ name }) => name);
/** What a running node writes by itself. */
const WRITTEN = /^(agenda_jobs|audit_|job|rate_limit_count)/;
const NODES = 5;
/** As they were: without members of all projects. */
const FORMER_VIEWS = ['project_member_now', 'project_lasting_admin'].map(
  (name) => new RegExp(`create view ${name} as[^;]*;`).exec(MEMBERS)?.[0] ?? '',
);
/** What steps after that have changed, undone. The checks have other names, and need not be what they were. */
const UNDO = `
  create table if not exists secret_reseal (project_id uuid primary key, organization_id uuid not null);
  do $$ begin
    if exists (select from pg_class where oid = 'agenda_jobs'::regclass and relkind = 'v') then
      drop view agenda_jobs;
      create table agenda_jobs (id uuid);
      delete from job where every_seconds is not null;
      alter table job drop constraint job_is_due, drop constraint job_has_finished, drop column every_seconds,
        add constraint job_check check (true), add constraint job_check1 check (true);
      alter table job_kind add column every_seconds integer, add column next_at timestamptz;
    end if;
    drop index if exists certificate_serial_number_index;
    alter table secret drop column if exists value_changed_at;
    alter table secret_version drop column if exists value_digest;
    alter table personal_secret drop column if exists value_digest;
    drop index if exists secret_undigested_index, secret_updated_at_index, audit_record_login_index;
    if to_regclass('all_projects_membership') is not null then
      drop view project_member_now, project_lasting_admin;
      ${FORMER_VIEWS.join('\n')}
      drop table all_projects_membership;
      drop trigger project_insertion_access_change on project;
    end if;
    drop table if exists used_login_token, identity_oidc_auth, identity_kubernetes_auth;
    alter table access_token drop column if exists session_claims;
    if to_regclass('secret_digest_index') is null then
      create index secret_digest_index on secret (project_id, value_digest);
      create index secret_environment_index on secret (environment_id);
      alter table secret add constraint secret_environment_id_fkey foreign key (environment_id) references environment(id),
        add constraint secret_project_id_fkey foreign key (project_id) references project(id),
        add constraint secret_organization_id_fkey foreign key (organization_id) references organization(id);
      alter table secret_version add constraint secret_version_project_id_fkey foreign key (project_id) references project(id),
        add constraint secret_version_organization_id_fkey foreign key (organization_id) references organization(id);
    end if;
  end $$`;

const nothing = async (): Promise<void> => undefined;

describe('a database whose list of migrations has a step for each change', () => {
  const strongroom = useStrongroom();
  let admin: Caller;
  let projectId: string;

  const listed = async (): Promise<string[]> =>
    (await strongroom.sql<{ name: string }>('select name from schema_migration order by id')).map(({ name }) => name);
  /** Makes it one that a version with such steps has left. */
  const becomeFormer = async (names: readonly string[] = [FIRST, '0028-jobs', LAST]): Promise<void> => {
    await strongroom.sql('delete from schema_migration');
    await strongroom.sql('insert into schema_migration (name) select unnest($1::text[])', [names]);
    await strongroom.sql(UNDO);
  };
  const contents = async (): Promise<[string, string[]][]> =>
    Object.entries(await tableContents(strongroom.databaseUrl)).filter(([table]) => !WRITTEN.test(table));
  const withNode = async (work: (database: Database) => Promise<void>): Promise<void> => {
    const database = await Database.connect(strongroom.databaseUrl, { migrations });
    await work(database).finally(() => database.close());
  };
  const started = (): Promise<void> => withNode((database) => migrate(database, nothing, nothing));

  beforeAll(async () => {
    const seeded = await strongroom.seed.project();
    admin = seeded.admin;
    projectId = seeded.project.id;
    const place = { projectId, environment: 'dev', secretPath: '/' };
    expect(await admin.post('/api/v4/secrets/KEPT', { ...place, secretValue: 'as it was' })).toMatchObject({
      status: 200,
    });
  });

  afterEach(() => strongroom.sql('drop table if exists secret_reseal'));

  test('has the first migration in their place after several nodes have started at once, and all its rows', async () => {
    const rows = async () => (await contents()).filter(([table]) => !/^(schema_migration|secret_reseal)$/.test(table));
    const before = await rows();
    await becomeFormer();
    await Promise.all(Array.from({ length: NODES }, started));
    expect(await listed()).toEqual(NAMES);
    expect(await rows()).toEqual(before);
    await started();
    expect(await listed()).toEqual(NAMES);
    const node = await strongroom.startSecondNode();
    const { body } = await admin.at(node.url).get(`/api/v4/secrets/KEPT?projectId=${projectId}&environment=dev`);
    expect([body.secret.secretValue, await node.stop()]).toEqual(['as it was', 0]);
  });

  test.each([
    ['the last of them has not run', [FIRST, '0028-jobs'], / start commit 131bf3a9 /],
    ['a newer version has migrated it', [...NAMES, '9999-later'], / a newer version /],
  ])('is refused by starts and programs when %s, and stays as it is', async (_case, names, line) => {
    await becomeFormer(names);
    const before = await contents();
    const refusal = expect.objectContaining({ violations: [expect.stringMatching(line)] });
    await expect(started()).rejects.toEqual(refusal);
    await expect(withNode(refuseOtherSchema)).rejects.toEqual(refusal);
    expect(await contents()).toEqual(before);
  });

  test('is refused by programs until a node has started on it', async () => {
    await becomeFormer();
    await expect(withNode(refuseOtherSchema)).rejects.toThrow('start this version on it once');
    await started();
    await withNode(refuseOtherSchema);
  });

  test('is refused while secrets wait to be sealed in another form, and stays as it is', async () => {
    await becomeFormer();
    await strongroom.sql('insert into secret_reseal select $1::uuid, $1::uuid', [projectId]);
    const before = await contents();
    await expect(started()).rejects.toThrow('secrets wait to be sealed in another form');
    expect(await contents()).toEqual(before);
  });
});
