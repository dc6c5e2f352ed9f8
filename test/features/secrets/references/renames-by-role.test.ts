import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';
import { withClient } from '../../../kit/tables.js';
import { untilWaiting } from '../../../kit/waiting.js';

const EVERYTHING = ['describeSecret', 'readValue', 'create', 'edit', 'delete'];
const secrets = (...action: string[]): GivenRule => ({ subject: 'secrets', action });
const except = (conditions: GivenRule['conditions'], ...action: string[]): GivenRule => ({
  subject: 'secrets',
  action: action.length === 0 ? EVERYTHING : action,
  inverted: true,
  conditions,
});
/** Everything but secrets and roles. */
const STRUCTURE: readonly GivenRule[] = ['environments', 'tags', 'secret-folders', 'secret-imports'].map((subject) => ({
  subject,
  action: ['read', 'create', 'edit', 'delete'],
}));

/** By what their rules lack of the only secret of prod, which is /vault/KEY with the tag locked. */
const LACKING: Readonly<Record<string, readonly GivenRule[]>> = {
  'any right on secrets': [],
  'edit, read and delete': [secrets('describeSecret')],
  'read and delete': [secrets('edit')],
  'reading values, and delete': [secrets('describeSecret', 'edit')],
  'edit and delete': [secrets('describeSecret', 'readValue', 'create')],
  'all rights outside of dev': [{ ...secrets(...EVERYTHING), conditions: { environment: 'dev' } }],
  'all rights in the folder': [secrets(...EVERYTHING), except({ secretPath: { $glob: '/vault/**' } })],
  'all rights on the tag': [secrets(...EVERYTHING), except({ secretTags: { $in: ['locked'] } })],
  'all rights on the key': [secrets(...EVERYTHING), except({ secretName: 'KEY' })],
};

/** Rules of other people, by what they see before and after. */
const READS = ['describeSecret', 'readValue'];
const OTHERS: Readonly<Record<string, readonly GivenRule[]>> = {
  'in dev': [{ ...secrets(...READS), conditions: { environment: 'dev' } }],
  'in dev and its likes': [{ ...secrets(...READS), conditions: { environment: { $glob: 'd*' } } }],
  'below /open': [{ ...secrets(...READS), conditions: { secretPath: { $glob: '/open/**' } } }],
  'without the tag': [secrets(...READS), except({ secretTags: { $in: ['locked'] } }, ...READS)],
  'with the tag free': [{ ...secrets(...READS), conditions: { secretTags: { $in: ['free'] } } }],
};

type Operation = (caller: Caller) => Promise<Reply>;

describe('renames, moves and deletions of what rules name', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(others: readonly (keyof typeof OTHERS)[] = Object.keys(OTHERS)) {
    const { admin, project } = await strongroom.seed.project();
    const base = `/api/v1/projects/${project.id}`;
    const [dev, , prod] = project.environments;
    const inProd = { projectId: project.id, environment: 'prod' };
    const folder = async (path: string, name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...inProd, path, name })).body.folder.id as string;
    const [vault] = [await folder('/', 'vault'), await folder('/', 'open')];
    const { tag } = mustSucceed(await admin.post(`${base}/tags`, { slug: 'locked', color: 'red' })).body;
    const more = { secretPath: '/vault', secretValue: 'sesame', tagIds: [tag.id] };
    mustSucceed(await admin.post('/api/v4/secrets/KEY', { ...inProd, ...more }));
    const readers: Record<string, Caller> = {};
    for (const name of others)
      readers[name] = (await callerWithRules(strongroom, admin, project.id, ...(OTHERS[name] ?? []))).caller;
    const operations: Record<string, Operation> = {
      'another slug of the environment': (who) => who.patch(`${base}/environments/${prod.id}`, { slug: 'live' }),
      'a slug that rules name': (who) => who.patch(`${base}/environments/${prod.id}`, { slug: 'd-prod' }),
      'deletion of the environment': (who) => who.delete(`${base}/environments/${prod.id}`),
      'another name of the folder': (who) => who.patch(`/api/v2/folders/${vault}`, { ...inProd, name: 'cellar' }),
      'the folder moved': (who) => who.patch(`/api/v2/folders/${vault}`, { ...inProd, newPath: '/open' }),
      'deletion of the folder': (who) => who.delete('/api/v2/folders/vault', { ...inProd, forceDelete: true }),
      'another slug of the tag': (who) => who.patch(`${base}/tags/${tag.id}`, { slug: 'loose' }),
      'a tag slug that rules name': (who) => who.patch(`${base}/tags/${tag.id}`, { slug: 'free' }),
      'deletion of the tag': (who) => who.delete(`${base}/tags/${tag.id}`),
    };
    /** What each reader gets to see in each environment that there is. */
    const seen = async (): Promise<Record<string, unknown>> => {
      const environments = mustSucceed(await admin.get(base)).body.project.environments as { slug: string }[];
      const views: Record<string, unknown> = {};
      for (const [name, reader] of Object.entries(readers))
        for (const { slug } of environments) {
          const query = new URLSearchParams({ projectId: project.id, environment: slug, recursive: 'true' });
          views[`${name}: ${slug}`] = (await reader.get(`/api/v4/secrets?${query}`)).body.secrets;
        }
      return views;
    };
    return { admin, project, base, dev, prod, vault, tag, inProd, operations, seen };
  }

  test('are refused to every role that lacks a right on what is in them, and no rule selects anything new', async () => {
    const { admin, project, operations, seen } = await seeded();
    const before = await seen();
    for (const [lack, rules] of Object.entries(LACKING)) {
      const { caller } = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE, ...rules);
      for (const [name, operation] of Object.entries(operations))
        expect({ lack, name, reply: await operation(caller) }).toEqual({
          lack,
          name,
          reply: expect.objectContaining({ status: 403 }),
        });
    }
    expect(await seen()).toEqual(before);
  });

  test('need the right to edit roles where a rule of anybody would select other things', async () => {
    const { admin, project, operations, seen } = await seeded();
    const before = await seen();
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    for (const name of [
      'a slug that rules name',
      'the folder moved',
      'another slug of the tag',
      'a tag slug that rules name',
      'deletion of the tag',
    ]) {
      const refused = await (operations[name] as Operation)(developer);
      expect({ name, status: refused.status, code: refused.body.code, details: refused.body.details }).toEqual({
        name,
        status: 403,
        code: 'PERMISSION_DENIED',
        details: [{ path: 'role', code: 'edit', message: 'requires the action edit on role' }],
      });
    }
    expect(await seen()).toEqual(before);
    const editor = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE, secrets(...EVERYTHING), {
      subject: 'role',
      action: ['edit'],
    });
    for (const name of ['a tag slug that rules name', 'the folder moved', 'a slug that rules name'])
      mustSucceed(await (operations[name] as Operation)(editor.caller));
  });

  test('need it also for a tag that no secret has yet: requests name it by its id', async () => {
    const { admin, base, project, tag, inProd, seen } = await seeded(['without the tag', 'with the tag free']);
    mustSucceed(await admin.delete('/api/v4/secrets/KEY', { ...inProd, secretPath: '/vault' }));
    const { id } = mustSucceed(await admin.post(`${base}/tags`, { slug: 'free', color: 'red' })).body.tag;
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE);
    for (const unused of [tag.id, id]) {
      if (unused === tag.id) await strongroom.sql('delete from secret_version where $1 = any(tag_ids)', [unused]);
      expect(await caller.patch(`${base}/tags/${unused}`, { slug: 'loose' })).toBeError(403, 'PERMISSION_DENIED');
      expect(await caller.delete(`${base}/tags/${unused}`)).toBeError(403, 'PERMISSION_DENIED');
    }
    mustSucceed(await admin.post('/api/v4/secrets/NEW', { ...inProd, secretValue: 'n', tagIds: [tag.id] }));
    expect((await seen())['without the tag: prod']).toEqual([]);
    const { tag: other } = mustSucceed(await admin.post(`${base}/tags`, { slug: 'other', color: 'red' })).body;
    mustSucceed(await caller.patch(`${base}/tags/${other.id}`, { slug: 'another' }));
    mustSucceed(await caller.delete(`${base}/tags/${other.id}`));
  });

  test('are free for whoever has all rights on what is in them where no rule looks at the names', async () => {
    const { admin, project, operations, seen } = await seeded(['in dev']);
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE, {
      ...secrets(...EVERYTHING),
      conditions: { secretName: 'KEY' },
    });
    for (const name of ['another slug of the environment', 'another slug of the tag', 'deletion of the tag'])
      mustSucceed(await (operations[name] as Operation)(caller));
    const inLive = { projectId: project.id, environment: 'live' };
    mustSucceed(await caller.delete('/api/v2/folders/vault', { ...inLive, forceDelete: true }));
    mustSucceed(await (operations['deletion of the environment'] as Operation)(caller));
    expect(await seen()).toEqual({ 'in dev: dev': [], 'in dev: staging': [] });
  });

  test('ask for the rights on deleted secrets too, and the right to edit roles is not enough', async () => {
    const { admin, project, inProd, operations } = await seeded([]);
    mustSucceed(await admin.delete('/api/v4/secrets/KEY', { ...inProd, secretPath: '/vault' }));
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE, {
      subject: 'role',
      action: ['read', 'edit'],
    });
    for (const name of ['another slug of the environment', 'deletion of the environment', 'deletion of the tag'])
      expect(await (operations[name] as Operation)(caller)).toBeError(403, 'PERMISSION_DENIED');
    // The history of a folder is looked at by its old path as well: its new name shows nobody more.
    mustSucceed(await (operations['another name of the folder'] as Operation)(caller));
  });

  test('show nobody more in two steps: dev away, and prod to dev', async () => {
    const { admin, project, base, dev, prod, seen } = await seeded(['in dev']);
    mustSucceed(
      await admin.post('/api/v4/secrets/OWN', { projectId: project.id, environment: 'dev', secretValue: 'o' }),
    );
    const before = await seen();
    const { caller: renamer } = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE);
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const slug = (caller: Caller, id: string, to: string) => caller.patch(`${base}/environments/${id}`, { slug: to });
    expect(await slug(renamer, dev.id, 'away')).toBeError(403, 'PERMISSION_DENIED');
    expect(await slug(renamer, prod.id, 'dev')).toBeError(403, 'PERMISSION_DENIED');
    expect(await seen()).toEqual(before);
    // The rules follow the first step, so that none names what the second one takes.
    mustSucceed(await slug(developer, dev.id, 'away'));
    mustSucceed(await slug(developer, prod.id, 'dev'));
    expect(await seen()).toEqual({
      'in dev: away': (before['in dev: dev'] as object[]).map((secret) => ({
        ...secret,
        environment: 'away',
      })),
      'in dev: staging': [],
      'in dev: dev': [],
    });
  });

  test('are judged also by a rule that is made at the same moment', async () => {
    const { admin, project, operations } = await seeded([]);
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const rules: readonly [name: string, conditions: GivenRule['conditions']][] = [
      ['another slug of the environment', { environment: { $glob: 'prod*' } }],
      ['another name of the folder', { secretPath: '/vault' }],
      ['another slug of the tag', { secretTags: { $in: ['locked'] } }],
    ];
    for (const [name, conditions] of rules) {
      const renamed = await withClient(strongroom.databaseUrl, async (client) => {
        await client.query('begin');
        // As another node writes a role: it holds the row of the project from its audit record to its commit.
        await client.query(
          `insert into project_role (id, organization_id, project_id, slug, name, permissions)
           select gen_random_uuid(), organization_id, id, $2, 'New', $3 from project where id = $1`,
          [project.id, name.replaceAll(' ', '-'), JSON.stringify([{ ...secrets(...READS), conditions }])],
        );
        await client.query('update project set revision = revision + 1 where id = $1', [project.id]);
        const renaming = (operations[name] as Operation)(developer.patient);
        await untilWaiting(strongroom, 1, renaming);
        await client.query('commit');
        return renaming;
      });
      expect([name, renamed.status]).toEqual([name, 403]);
    }
  });

  test('let no secret come into a place whose rules nobody asked: what is being made finds it gone', async () => {
    const { admin: made, project, prod, vault, inProd } = await seeded([]);
    const admin = made.patient;
    const there = { ...inProd, secretPath: '/vault' };
    const { secret } = mustSucceed(await admin.post('/api/v4/secrets/ROOT', { ...inProd, secretValue: 'r' })).body;
    const transfer = (verb: string) =>
      admin.graphql(
        `mutation ($input: ${verb}SecretsInput!) { ${verb.toLowerCase()}Secrets(input: $input) { secretIds } }`,
        {
          input: {
            projectId: project.id,
            source: { environment: 'prod', secretPath: '/' },
            destination: { environment: 'prod', secretPath: '/vault' },
            secretIds: [secret.id],
          },
        },
      );
    const writes: Record<string, () => Promise<Reply>> = {
      creation: () => admin.post('/api/v4/secrets/NEW', { ...there, secretValue: 'n' }),
      upsert: () =>
        admin.patch('/api/v4/secrets/batch', {
          ...there,
          mode: 'upsert',
          secrets: [{ secretKey: 'NEW', secretValue: 'n' }],
        }),
      'a new key': () => admin.patch('/api/v4/secrets/KEY', { ...there, newSecretName: 'NEW' }),
      'a file': () =>
        admin.post('/api/v4/secrets/import', { ...there, format: 'dotenv', mode: 'skip-existing', content: 'NEW=n\n' }),
      'a move': () => transfer('Move'),
      'a copy': () => transfer('Copy'),
    };
    // As another node does it: the folders are held, and then the name is changed.
    const renames = [
      [`update folder set name = 'cellar', path = '/cellar' where id = $1`, vault, 'FOLDER_NOT_FOUND'],
      [`update environment set slug = 'live' where id = $1`, prod.id, 'ENVIRONMENT_NOT_FOUND'],
    ] as const;
    /** These look for what has the name then. */
    const again = ['creation', 'upsert', 'a new key'];
    for (const [name, write] of Object.entries(writes))
      for (const [rename, id, gone] of renames) {
        const reply = await withClient(strongroom.databaseUrl, async (client) => {
          await client.query('begin');
          await client.query('select 1 from folder where environment_id = $1 order by id for no key update', [prod.id]);
          await client.query(rename, [id]);
          const writing = write();
          await untilWaiting(strongroom, 1, writing);
          await client.query('commit');
          return writing;
        });
        const code = again.includes(name) ? gone : 'CONCURRENT_CHANGE';
        expect([name, reply.body.code ?? reply.body.errors?.[0].extensions.code]).toEqual([name, code]);
        await strongroom.sql(`update folder set name = 'vault', path = '/vault' where id = $1`, [vault]);
        await strongroom.sql(`update environment set slug = 'prod' where id = $1`, [prod.id]);
      }
  });

  test('let no restore write where another environment has got the slug, by which the rules are asked', async () => {
    const { admin, project, dev, prod } = await seeded([]);
    const at = { projectId: project.id, environment: 'dev' };
    mustSucceed(await admin.post('/api/v4/secrets/OWN', { ...at, secretValue: 'first' }));
    const [then] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.002)');
    mustSucceed(await admin.patch('/api/v4/secrets/OWN', { ...at, secretValue: 'second' }));
    const reply = await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query(`select pg_advisory_xact_lock(hashtextextended('secret structure ' || $1, 0))`, [project.id]);
      await client.query(`update environment set slug = 'away' where id = $1`, [dev.id]);
      await client.query(`update environment set slug = 'dev' where id = $1`, [prod.id]);
      const restoring = admin.patient.post('/api/v1/secrets/restore', { ...at, at: then?.now.toISOString() });
      await untilWaiting(strongroom, 1, restoring);
      await client.query('commit');
      return restoring;
    });
    expect(reply).toBeError(409, 'CONCURRENT_CHANGE');
  });

  test('are refused for a secret that is being made at the same moment', async () => {
    const { admin, project, base, inProd } = await seeded([]);
    const folder = mustSucceed(await admin.post('/api/v2/folders', { ...inProd, name: 'empty' })).body.folder.id;
    mustSucceed(await admin.post('/api/v2/folders', { ...inProd, path: '/empty', name: 'inner' }));
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...STRUCTURE);
    const staging = project.environments[1];
    const rounds = [
      [{ ...inProd, secretPath: '/empty/inner' }, `/api/v2/folders/${folder}`, { ...inProd, newPath: '/open' }],
      [{ projectId: project.id, environment: 'staging' }, `${base}/environments/${staging.id}`, { slug: 'live' }],
    ] as const;
    for (const [place, path, change] of rounds) {
      const [made, renamed] = await withClient(strongroom.databaseUrl, async (client) => {
        await client.query('begin');
        // Every change ends with writing there.
        await client.query('select 1 from project where id = $1 for update', [project.id]);
        const making = admin.post('/api/v4/secrets/NEW', { ...place, secretValue: 'n' });
        await untilWaiting(strongroom, 1);
        const renaming = caller.patch(path, change);
        await untilWaiting(strongroom, 2);
        await client.query('commit');
        return Promise.all([making, renaming]);
      });
      mustSucceed(made);
      expect(renamed).toBeError(403, 'PERMISSION_DENIED');
    }
  });
});
