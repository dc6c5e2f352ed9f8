import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { Caller } from '../../kit/caller.js';
import { databaseAt } from '../../kit/databases.js';
import { Service } from '../../kit/service.js';
import { freshDatabase } from '../../kit/strongroom.js';

const PASSWORD = 'role-test';
const ROOT_KEY = randomBytes(32).toString('base64');
const REFUSED = '42501';

async function asOwner<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A user of the server, and the URL by which it logs in to a database. */
async function newUser(databaseUrl: string, rights = ''): Promise<{ name: string; url: string }> {
  const name = `u_${randomUUID().replaceAll('-', '')}`;
  await asOwner(databaseUrl, (client) => client.query(`create role ${name} login ${rights} password '${PASSWORD}'`));
  const url = new URL(databaseUrl);
  return { name, url: Object.assign(url, { username: name, password: PASSWORD }).href };
}

/** An empty database that belongs to a plain user, and the URLs by which that user and a superuser reach it. */
async function ownedDatabase(rights = ''): Promise<{ url: string; superUrl: string; name: string }> {
  const superUrl = await freshDatabase();
  const owner = await newUser(superUrl, rights);
  const database = new URL(superUrl).pathname.slice(1);
  await asOwner(superUrl, (client) => client.query(`alter database ${database} owner to ${owner.name}`));
  return { ...owner, superUrl };
}

async function withService(env: Record<string, string>, work: (service: Service) => Promise<void>): Promise<void> {
  const service = await Service.start({ env });
  try {
    await work(service);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.kill();
    await service.dispose();
  }
}

const roleShown = async ({ url }: Service) => (await new Caller(url, null).get('/readyz')).body.databaseRole;

async function refusedStart(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const service = await Service.spawn({ env });
  const code = await service.exit();
  await service.dispose();
  return { code, output: service.output };
}

/** What a session cannot do: each statement, and the SQLSTATE that it fails with. */
async function refusals(client: pg.Client, statements: readonly string[]): Promise<Record<string, string>> {
  const states: Record<string, string> = {};
  for (const statement of statements) {
    const state = await client.query(statement).then(
      () => 'done',
      (error: pg.DatabaseError) => error.code ?? '',
    );
    states[statement] = state;
  }
  return states;
}

const FORBIDDEN = [
  'create table public.mine (id int)',
  'alter table secret add column mine int',
  'drop table secret',
  'truncate secret',
  'alter table audit_record disable trigger all',
  'update audit_record set facts = null',
  'delete from audit_record',
  'truncate audit_record',
  'delete from audit_record_kept',
  'update audit_seal set mac = null',
  'delete from audit_disclosure',
  'delete from audit_expiry',
  'delete from audit_partition',
  'update audit_checkpoint set number = 1',
  'delete from access_history',
  'update access_history set content = null',
  'update installation set key_check_value = null',
  `select setval('audit_record_sequence_seq1', 1)`,
  `select make_audit_partition('2100-01-01')`,
  `set session_replication_role = 'replica'`,
];

test('the service works with a role that owns nothing and cannot alter the trail, and each start grants what it needs', async () => {
  const databaseUrl = await freshDatabase();
  const role = `strongroom_service_${new URL(databaseUrl).pathname.slice(1)}`;
  const service = await Service.start({ env: { DATABASE_URL: databaseUrl } });
  const env = { DATABASE_URL: databaseUrl, ROOT_KEY: `file:${service.dataDir}/root-key` };
  try {
    expect(await roleShown(service)).toBe('service');
    const caller = new Caller(service.url, await service.firstToken());
    const created = await caller.post('/api/v1/projects', { projectName: 'With a role' });
    expect(created.status).toBe(200);
    await asOwner(databaseUrl, async (client) => {
      await client.query(`set role ${role}`);
      expect(await refusals(client, FORBIDDEN)).toEqual(Object.fromEntries(FORBIDDEN.map((it) => [it, REFUSED])));
      const { rows } = await client.query(
        `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, rolcanlogin,
                exists (select from pg_shdepend d where d.refobjid = r.oid and d.deptype = 'o') as owns,
                pg_has_role(oid, (select relowner from pg_class where relname = 'secret'), 'MEMBER') as is_owner
           from pg_roles r where rolname = current_user`,
      );
      expect(new Set(Object.values(rows[0]))).toEqual(new Set([false]));
      await client.query('reset role');
      // The connections of the service have it: what it may not do, they cannot.
      await client.query(`revoke insert on project from ${role}; grant truncate on audit_seal to ${role}`);
    });
    expect((await caller.post('/api/v1/projects', { projectName: 'Without a right' })).status).toBe(500);
    await withService(env, async (next) => {
      const again = await new Caller(next.url, await service.firstToken()).post('/api/v1/projects', {
        projectName: 'With the right again',
      });
      expect(again.status).toBe(200);
    });
    const [held] = await asOwner(
      databaseUrl,
      async (client) =>
        (await client.query(`select has_table_privilege('${role}', 'audit_seal', 'truncate') as truncate`)).rows,
    );
    expect(held.truncate).toBe(false);
    await asOwner(databaseUrl, (client) =>
      client.query(`create policy only_unbounded on project as restrictive for select
          using (current_setting('strongroom.organization', true) = '*')`),
    );
    const seesProjects = async (node: Service) => {
      expect(await roleShown(node)).toBe('service');
      const { projects } = (await new Caller(node.url, await service.firstToken()).get('/api/v1/projects')).body;
      return projects.length > 0;
    };
    const hasPolicies = async () =>
      asOwner(databaseUrl, async (client) => {
        const { rows } = await client.query(`select relrowsecurity from pg_class where relname = 'project'`);
        return rows[0].relrowsecurity;
      });
    await withService({ ...env, ROW_SECURITY: 'off' }, async (unbounded) => {
      expect([await hasPolicies(), await seesProjects(unbounded)]).toEqual([false, true]);
      await withService(env, async (bounded) => {
        expect([await hasPolicies(), await seesProjects(bounded)]).toEqual([true, false]);
        // It says itself that it is not bounded, wherever it meets policies.
        expect(await seesProjects(unbounded)).toBe(true);
      });
    });
    await withService({ ...env, DATABASE_ROLE: 'owner' }, async (next) => {
      expect(await roleShown(next)).toBe('owner');
      expect(next.output).not.toContain('database role not restricted');
    });
    expect(await service.stop()).toBe(0);
  } finally {
    await service.kill();
    await service.dispose();
  }
});

test('an owner who may create roles makes it; without that right the service works as the owner and says so', async () => {
  const [able, unable] = [await ownedDatabase('createrole'), await ownedDatabase()];
  await withService({ DATABASE_URL: able.url }, async (service) => expect(await roleShown(service)).toBe('service'));
  await withService({ DATABASE_URL: unable.url }, async (service) => {
    expect(await roleShown(service)).toBe('owner');
    expect(service.output).toContain('"msg":"database role not restricted"');
    expect(service.output).toContain('"reason":"the user of DATABASE_URL cannot create roles"');
  });
});

test('with two URLs the service logs in with the rights of its role, which must not be those of the owner', async () => {
  const owner = await ownedDatabase();
  const login = await newUser(owner.superUrl);
  await withService({ ROOT_KEY, DATABASE_URL: login.url, DATABASE_OWNER_URL: owner.url }, async (service) => {
    expect(await roleShown(service)).toBe('service');
    const caller = new Caller(service.url, await service.firstToken());
    expect((await caller.post('/api/v1/projects', { projectName: 'Of two URLs' })).status).toBe(200);
    await asOwner(login.url, async (client) => {
      const refused = await refusals(client, ['delete from audit_record', 'drop table secret']);
      expect(new Set(Object.values(refused))).toEqual(new Set([REFUSED]));
    });
  });
  const wrong = [
    [{ DATABASE_URL: owner.url, DATABASE_OWNER_URL: owner.url }, /has the rights of a superuser or of the owner\n$/],
    [
      { DATABASE_URL: owner.superUrl, DATABASE_OWNER_URL: owner.url },
      /has the rights of a superuser or of the owner\n$/,
    ],
    [
      { DATABASE_URL: databaseAt(login.url, 'postgres'), DATABASE_OWNER_URL: owner.url },
      /^strongroom: DATABASE_URL and DATABASE_OWNER_URL name different databases[^\n]*\n$/,
    ],
  ] as const;
  for (const [env, reason] of wrong) {
    const { code, output } = await refusedStart({ ROOT_KEY, ...env });
    expect(output).toMatch(reason);
    expect(code).toBe(78);
  }
});
