import pg from 'pg';
import { mustSucceed } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

/** Tables that name an organization, and have no policy. */
const WITHOUT_POLICY = {
  // Tokens are found, and what their holders may do, before the organization is known; and root organizations share accounts with others.
  access_token: 'found before the organization is known',
  all_projects_membership: 'found before the organization is known',
  app_user: 'found before the organization is known',
  group_member: 'found before the organization is known',
  identity: 'found before the organization is known',
  member_group: 'found before the organization is known',
  organization_membership: 'found before the organization is known',
  project_membership: 'found before the organization is known',
  // Pages of twenty thousand entries are found in indexes alone, without looking at rows.
  access_history: 'read from indexes alone',
  audit_record: 'read from indexes alone',
  // Some are of the installation, and nodes work on those of all.
  job: 'worked on for all',
};
/** Found without a scope too. */
const KNOWN_TO_NODES = [
  'additional_privilege',
  'data_key',
  'idempotency_key',
  'organization_key',
  'organization_role',
  'project',
  'project_role',
];

/** Runs statements with the role of the service, whatever a defect may leave out of them. */
async function asService<T>(scope: string | null, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const role = `strongroom_service_${new URL(strongroom.databaseUrl).pathname.slice(1)}`;
  const client = new pg.Client({ connectionString: strongroom.databaseUrl });
  await client.connect();
  try {
    await client.query(`set role ${role}`);
    await client.query('begin');
    if (scope !== null) await client.query(`select set_config('strongroom.organization', $1, true)`, [scope]);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Tables with a policy, but for those that are found without a scope. */
async function closedTables(): Promise<string[]> {
  const rows = await strongroom.sql<{ name: string }>('select tablename::text as name from pg_policies order by 1');
  return rows.map(({ name }) => name).filter((name) => !KNOWN_TO_NODES.includes(name));
}

/** Names of the tables of which rows are visible. */
async function seen(client: pg.Client, tables: readonly string[], where = 'true'): Promise<string[]> {
  const found: string[] = [];
  for (const table of tables) {
    const { rows } = await client.query(`select exists (select from ${table} where ${where}) as has`);
    if (rows[0].has) found.push(table);
  }
  return found;
}

async function seedProject() {
  const { organization, admin, project } = await strongroom.seed.project();
  await strongroom.seed.secrets(admin, project, 'dev', 3);
  mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'tag', color: '#fff' }));
  return { organizationId: organization.id, admin, project };
}

describe('rows of an organization', () => {
  test('are not reached from others by a statement without any filter, nor without a scope', async () => {
    const [one, other] = [await seedProject(), await seedProject()];
    const tables = await closedTables();
    const foreign = `organization_id <> '${one.organizationId}'`;

    await asService('*', async (client) => {
      expect(await seen(client, ['secret', 'folder', 'tag'], foreign)).toEqual(['secret', 'folder', 'tag']);
    });
    await asService(one.organizationId, async (client) => {
      expect(await seen(client, [...tables, ...KNOWN_TO_NODES], foreign)).toEqual([]);
      expect((await client.query('select from secret')).rowCount).toBe(3);
      expect((await client.query('update secret set key = key')).rowCount).toBe(3);
      const ofOther = 'delete from tag where organization_id = $1';
      expect((await client.query(ofOther, [other.organizationId])).rowCount).toBe(0);
      const copy = `insert into tag (id, organization_id, project_id, slug, color)
        select gen_random_uuid(), $1, $2, 'foreign', '#fff'`;
      const refused = client.query(copy, [other.organizationId, other.project.id]);
      await expect(refused).rejects.toMatchObject({ code: '42501' });
    });
    for (const scope of [null, '', one.project.id]) {
      await asService(scope, async (client) => expect(await seen(client, tables)).toEqual([]));
    }
  });

  test('are reached from its root organization and its sub-organizations where these share them, and from no other', async () => {
    const [{ organization, admin }, stranger] = [await strongroom.seed.organization(), await seedProject()];
    const { createSubOrganization } = await admin.data(
      `mutation { createSubOrganization(input: { name: "Sub" }) { organization { id } } }`,
    );
    const sub = createSubOrganization.organization;
    const rows = async (scope: string, table: string) =>
      asService(scope, async (client) => {
        const found = await client.query(`select organization_id as id from ${table}`);
        return new Set(found.rows.map(({ id }) => id as string));
      });
    expect(await rows(organization.id, 'organization_key')).toEqual(new Set([organization.id, sub.id]));
    expect(await rows(sub.id, 'organization_key')).toEqual(new Set([organization.id, sub.id]));
    expect(await rows(stranger.organizationId, 'organization_key')).toEqual(new Set([stranger.organizationId]));
  });

  test('are reached by each request with the scope of its organization and no other', async () => {
    const { organizationId, admin, project } = await seedProject();
    const exact = `organization_id <> '${organizationId}' or current_setting('strongroom.organization', true) = '${organizationId}'`;
    await strongroom.sql(`create policy only_by_scope on secret as restrictive using (${exact})`);
    try {
      const path = (key: string) => `/api/v4/secrets/${key}?projectId=${project.id}&environment=dev`;
      expect((await admin.get(path('KEY_00001'))).body.secret?.secretValue).toBe('value-1');
      const change = { projectId: project.id, environment: 'dev', secretValue: 'changed' };
      mustSucceed(await admin.patch('/api/v4/secrets/KEY_00001', change));
      expect((await admin.get(path('KEY_00001'))).body.secret?.secretValue).toBe('changed');
    } finally {
      await strongroom.sql('drop policy only_by_scope on secret');
    }
  });

  test('have a policy in each table, unless there is a reason', async () => {
    const tables = await strongroom.sql<{ name: string; isBounded: boolean }>(
      `select c.relname::text as name, c.relrowsecurity and exists (
           select from pg_policy p where p.polrelid = c.oid and p.polcmd = '*' and p.polpermissive and p.polroles = '{0}') as "isBounded"
         from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        order by 1`,
    );
    const open = tables.filter(({ isBounded }) => !isBounded).map(({ name }) => name);
    expect(open).toEqual(Object.keys(WITHOUT_POLICY).sort());
    expect(tables.length - open.length).toBeGreaterThan(40);
  });
});
