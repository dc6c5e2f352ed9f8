import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { testInAll } from '../../../kit/scope.js';
import type { SeededProject } from '../../../kit/seed.js';
import { type OtherNode, useSharedStrongroom } from '../../../kit/strongroom.js';
import { PLACES, seedPlaces } from './places.js';

const strongroom = useSharedStrongroom();

let admin: Caller;
let project: SeededProject;
let tags: Readonly<Record<string, string>>;
let node: OtherNode;

beforeAll(async () => {
  ({ admin, project } = await strongroom.seed.project());
  tags = await seedPlaces(admin, project.id);
  node = await strongroom.otherNode();
});

const READ = ['describeSecret', 'readValue'];
const WRITE = ['create', 'edit', 'delete'];
const on = (action: string | readonly string[], conditions?: GivenRule['conditions'], inverted = false): GivenRule => ({
  subject: 'secrets',
  action,
  ...(inverted ? { inverted } : {}),
  ...(conditions === undefined ? {} : { conditions }),
});
const not = (action: string | readonly string[], conditions?: GivenRule['conditions']): GivenRule =>
  on(action, conditions, true);

const withRules = async (...rules: readonly GivenRule[]): Promise<Caller> =>
  (await callerWithRules(strongroom, admin, project.id, ...rules)).caller;

const query = (environment: string, more: Readonly<Record<string, string>> = {}): string =>
  `/api/v4/secrets?${new URLSearchParams({ projectId: project.id, environment, ...more })}`;
const one = (environment: string, secretPath: string, key: string): string =>
  `/api/v4/secrets/${key}?${new URLSearchParams({ projectId: project.id, environment, secretPath })}`;

/** What a caller sees in an environment: `path key` of each secret, with `?` behind it where the value is hidden. */
async function seen(caller: Caller, environment: string): Promise<string[]> {
  const { secrets } = mustSucceed(await caller.get(query(environment, { recursive: 'true' }))).body;
  return secrets.map(
    (secret: { secretPath: string; secretKey: string; secretValue: string; secretValueHidden: boolean }) => {
      expect(secret.secretValue === '<hidden>').toBe(secret.secretValueHidden);
      return `${secret.secretPath} ${secret.secretKey}${secret.secretValueHidden ? '?' : ''}`;
    },
  );
}

const all = (environment: string): string[] =>
  PLACES.filter((place) => place.environment === environment).map(({ path, key }) => `${path} ${key}`);

describe('a list of secrets', () => {
  test.each<[string, GivenRule[], string[]]>([
    ['everything without conditions', [on(READ)], ['/ API_KEY', '/ DB_PASS', '/ DB_URL', '/app DB_URL', '/app/eu KEY']],
    [
      'an environment',
      [on(READ, { environment: 'dev' })],
      ['/ API_KEY', '/ DB_PASS', '/ DB_URL', '/app DB_URL', '/app/eu KEY'],
    ],
    [
      'no other environment',
      [on(READ, { environment: { $ne: 'dev' } }), on('describeSecret', { secretName: 'KEY' })],
      ['/app/eu KEY?'],
    ],
    ['a path', [on(READ, { secretPath: '/app' })], ['/app DB_URL']],
    ['paths by a pattern', [on(READ, { secretPath: { $glob: '/app/**' } })], ['/app DB_URL', '/app/eu KEY']],
    ['paths of one level', [on(READ, { secretPath: { $glob: '/*' } })], ['/app DB_URL']],
    ['a name', [on(READ, { secretName: { $in: ['KEY', 'API_KEY'] } })], ['/ API_KEY', '/app/eu KEY']],
    ['names by a pattern', [on(READ, { secretName: { $glob: 'DB_*' } })], ['/ DB_PASS', '/ DB_URL', '/app DB_URL']],
    [
      'tags, any of them',
      [on(READ, { secretTags: { $in: ['hot', 'cold'] } })],
      ['/ API_KEY', '/ DB_PASS', '/app/eu KEY'],
    ],
    ['all conditions at once', [on(READ, { secretTags: { $in: ['hot'] }, secretPath: '/' })], ['/ DB_PASS']],
    [
      'what inverted rules leave',
      [on(READ), not(READ, { secretTags: { $in: ['hot'] } }), not(READ, { secretPath: '/app' })],
      ['/ API_KEY', '/ DB_URL'],
    ],
    [
      'what later rules give back',
      [on(READ), not(READ, { secretPath: { $glob: '/app/**' } }), on(READ, { secretName: 'KEY' })],
      ['/ API_KEY', '/ DB_PASS', '/ DB_URL', '/app/eu KEY'],
    ],
    [
      'no value where only describing is allowed',
      [on('describeSecret'), on('readValue', { secretName: { $glob: '*_URL' } })],
      ['/ API_KEY?', '/ DB_PASS?', '/ DB_URL', '/app DB_URL', '/app/eu KEY?'],
    ],
    [
      'no value where reading it is forbidden',
      [on('read'), not('readValue', { secretTags: { $in: ['hot'] } })],
      ['/ API_KEY', '/ DB_PASS?', '/ DB_URL', '/app DB_URL', '/app/eu KEY?'],
    ],
    [
      'nothing of which only the value may be read',
      [on('describeSecret', { secretName: 'KEY' }), on('readValue')],
      ['/app/eu KEY'],
    ],
    [
      'nothing for rules about events',
      [on(READ, { eventType: 'x' }), on(READ, { secretName: 'KEY' })],
      ['/app/eu KEY'],
    ],
  ])('shows %s', async (_, rules, expected) => {
    expect(await seen(await withRules(...rules), 'dev')).toEqual(expected);
  });

  test('is refused to callers who may describe nothing, and empty for those who may describe other things', async () => {
    expect(await (await withRules(on('readValue'), on(WRITE))).get(query('dev'))).toBeError(403, 'PERMISSION_DENIED');
    expect(await (await withRules(on(READ), not(READ))).get(query('dev'))).toBeError(403, 'PERMISSION_DENIED');
    expect(await seen(await withRules(on(READ, { environment: 'prod' })), 'dev')).toEqual([]);
  });

  test('is the same inside of other answers, and in pages', async () => {
    const caller = await withRules(
      on('describeSecret', { secretName: { $glob: 'DB_*' } }),
      on('readValue', { secretName: 'DB_URL' }),
    );
    const document = `{ project(id: "${project.id}") { environments { slug secrets { nodes { secretKey secretValue } } } } }`;
    const { environments } = (await caller.data(document)).project;
    expect(environments[0]).toEqual({
      slug: 'dev',
      secrets: {
        nodes: [
          { secretKey: 'DB_PASS', secretValue: null },
          { secretKey: 'DB_URL', secretValue: 'dev / DB_URL' },
        ],
      },
    });
    const first = mustSucceed(await caller.get(query('dev', { limit: '1' }))).body;
    const second = mustSucceed(await caller.get(query('dev', { limit: '1', cursor: first.nextCursor }))).body;
    expect([first, second].map(({ secrets }) => secrets[0].secretKey)).toEqual(['DB_PASS', 'DB_URL']);
    expect(second.nextCursor).toBeUndefined();
  });

  test('has of imports and references only what the rules show', async () => {
    const { admin: owner, project: other } = await strongroom.seed.project();
    await seedPlaces(owner, other.id);
    const dev = { projectId: other.id, environment: 'dev' };
    mustSucceed(await owner.post('/api/v2/secret-imports', { ...dev, import: { environment: 'prod', path: '/' } }));
    const secretValue = '[${prod.DB_URL}] [${prod.DB_PASS}]';
    mustSucceed(await owner.post('/api/v4/secrets/MIXED', { ...dev, secretValue }));
    const rules = [on(READ, { environment: 'dev' }), on(READ, { environment: 'prod', secretName: 'DB_URL' })];
    const { caller } = await callerWithRules(strongroom, owner, other.id, ...rules);
    const parameters = { ...dev, include_imports: 'true', expandSecretReferences: 'true' };
    const reply = mustSucceed(await caller.get(`/api/v4/secrets?${new URLSearchParams(parameters)}`));
    const { secrets, imports } = reply.body;
    expect(secrets.find((secret: { secretKey: string }) => secret.secretKey === 'MIXED').secretValue).toBe(
      '[prod / DB_URL] [${prod.DB_PASS}]',
    );
    expect(reply.headers['x-unresolved-references']).toBe('1');
    expect(imports[0].secrets.map((secret: { secretKey: string }) => secret.secretKey)).toEqual(['DB_URL']);
  });
});

describe('one secret', () => {
  test('is read where the rules show it, hidden where they hide its value, and else unknown', async () => {
    const caller = await withRules(
      on('describeSecret', { secretPath: { $glob: '/app/**' } }),
      on('readValue', { secretTags: { $in: ['hot'] } }),
    );
    expect((await caller.get(one('dev', '/app/eu', 'KEY'))).body.secret).toMatchObject({
      secretValue: 'dev /app/eu KEY',
    });
    expect((await caller.get(one('dev', '/app', 'DB_URL'))).body.secret).toMatchObject({
      secretValue: '<hidden>',
      secretValueHidden: true,
    });
    expect(await caller.get(one('dev', '/', 'DB_PASS'))).toBeError(404, 'SECRET_NOT_FOUND');
    const { secret } = mustSucceed(await admin.get(one('dev', '/', 'DB_PASS'))).body;
    expect(await caller.get(`/api/v4/secrets/id/${secret.id}`)).toBeError(404, 'SECRET_NOT_FOUND');
  });
});

describe('writes', () => {
  const place = (environment: string, secretPath = '/') => ({ projectId: project.id, environment, secretPath });

  test('are allowed where the rules say so, for all of a batch or none', async () => {
    const caller = await withRules(on(READ), on(WRITE, { environment: 'staging', secretName: { $glob: 'OWN_*' } }));
    const at = place('staging');
    const post = (...keys: string[]) =>
      caller.post('/api/v4/secrets/batch', {
        ...at,
        secrets: keys.map((secretKey) => ({ secretKey, secretValue: 'v' })),
      });
    expect((await post('OWN_A', 'OWN_B')).status).toBe(200);
    expect(await post('OWN_C', 'OTHER')).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.post('/api/v4/secrets/OWN_A', { ...place('dev'), secretValue: 'v' })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    expect(await seen(caller, 'staging')).toEqual(['/ OWN_A', '/ OWN_B']);

    const patch = (change: object) => caller.patch('/api/v4/secrets/OWN_A', { ...at, ...change });
    expect((await patch({ secretValue: 'w' })).status).toBe(200);
    // Neither into nor out of what the rules are about.
    expect(await patch({ newSecretName: 'OTHER' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.patch('/api/v4/secrets/DB_URL', { ...place('dev'), newSecretName: 'OWN_X' })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    expect(await caller.delete('/api/v4/secrets/DB_URL', place('dev'))).toBeError(403, 'PERMISSION_DENIED');
    for (const key of ['OWN_A', 'OWN_B']) expect((await caller.delete(`/api/v4/secrets/${key}`, at)).status).toBe(200);
  });

  test('look at tags before and after', async () => {
    const caller = await withRules(on(READ), on(WRITE), not(WRITE, { secretTags: { $in: ['hot'] } }));
    const at = place('staging');
    const post = (tagIds: unknown[]) => caller.post('/api/v4/secrets/TAGGED', { ...at, secretValue: 'v', tagIds });
    expect(await post([tags.hot])).toBeError(403, 'PERMISSION_DENIED');
    expect((await post([tags.cold])).status).toBe(200);
    const patch = (by: Caller, tagIds: unknown[]) => by.patch('/api/v4/secrets/TAGGED', { ...at, tagIds });
    expect(await patch(caller, [tags.hot, tags.cold])).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await patch(admin, [tags.hot]));
    expect(await patch(caller, [])).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.delete('/api/v4/secrets/TAGGED', at)).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await admin.delete('/api/v4/secrets/TAGGED', at));
  });

  test('of what the caller may not describe find nothing', async () => {
    const caller = await withRules(on(READ, { secretName: 'API_KEY' }), on(WRITE));
    const change = { ...place('dev'), secretValue: 'w' };
    expect(await caller.patch('/api/v4/secrets/DB_URL', change)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await caller.delete('/api/v4/secrets/DB_URL', place('dev'))).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await seen(admin, 'dev')).toEqual(all('dev'));
  });

  test('of folders are allowed by environment and path', async () => {
    const conditions = { environment: 'staging', secretPath: { $glob: '/own/**' } };
    const caller = await withRules({ subject: 'secret-folders', action: ['read', 'create', 'delete'], conditions });
    const post = (by: Caller, environment: string, path: string) =>
      by.post('/api/v2/folders', { projectId: project.id, environment, path, name: 'own' });
    mustSucceed(await post(admin, 'staging', '/'));
    expect((await post(caller, 'staging', '/own')).status).toBe(200);
    expect(await post(caller, 'staging', '/')).toBeError(403, 'PERMISSION_DENIED');
    expect(await post(caller, 'dev', '/own')).toBeError(403, 'PERMISSION_DENIED');
  });
});

describe('rules that change', () => {
  test('hold at the very next request, on every node', async () => {
    const { caller, slug, change } = await callerWithRules(strongroom, admin, project.id, on(READ));
    const nodes = [caller, caller.at(node.url)] as const;
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
    for (let round = 0; round < 3; round += 1) {
      await change(on(READ));
      for (const at of nodes) expect(await seen(at, 'dev')).toEqual(all('dev'));
      await change(on(READ), not('readValue', { secretPath: { $glob: '/**' } }));
      for (const at of nodes) expect(await seen(at, 'dev')).toEqual(all('dev').map((name) => `${name}?`));
      await change(on(READ, { secretName: 'KEY' }));
      for (const at of nodes) expect(await seen(at, 'dev')).toEqual(['/app/eu KEY']);
      mustSucceed(await admin.at(node.url).patch(path, { role: 'no-access' }));
      for (const at of nodes) expect(await at.get(query('dev'))).toBeError(403, 'PERMISSION_DENIED');
      mustSucceed(await admin.patch(path, { role: slug }));
      for (const at of nodes) expect(await seen(at, 'dev')).toEqual(['/app/eu KEY']);
    }
  });

  testInAll('are never seen as they were by a request that began after the answer to their change', async () => {
    const { admin: owner, project: other } = await strongroom.seed.project();
    const keys = await strongroom.seed.secrets(owner, other, 'dev', 10);
    const { caller: reader, change } = await callerWithRules(
      strongroom,
      owner.patient,
      other.id,
      on(READ, { secretName: keys[0] }),
    );
    const caller = reader.patient;
    const path = `/api/v4/secrets?projectId=${other.id}&environment=dev`;
    let [begun, answered] = [0, 0];
    let isChanging = true;
    const late: string[] = [];
    const read = async (at: Caller): Promise<void> => {
      while (isChanging) {
        const since = answered;
        const { secrets } = mustSucceed(await at.get(path)).body;
        const possible = Array.from({ length: begun - since + 1 }, (_, index) => keys[(since + index) % keys.length]);
        if (secrets.length !== 1 || !possible.includes(secrets[0].secretKey)) {
          late.push(
            `after ${since}: ${JSON.stringify(secrets.map((secret: { secretKey: string }) => secret.secretKey))}`,
          );
        }
      }
    };
    const readers = [caller, caller, caller, caller.at(node.url), caller.at(node.url), caller.at(node.url)].map(read);
    try {
      while (answered < 50) {
        begun += 1;
        await change(on(READ, { secretName: keys[begun % keys.length] }));
        answered = begun;
      }
    } finally {
      isChanging = false;
    }
    await Promise.all(readers);
    expect(late).toEqual([]);
  });

  test('are asked for in the one statement that every request needs', async () => {
    const caller = await withRules(on(READ));
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const path = one('dev', '/', 'API_KEY');
    for (const each of [caller, viewer]) mustSucceed(await each.get(path));
    const [own, builtIn] = [
      await strongroom.statements(() => caller.get(path)),
      await strongroom.statements(() => viewer.get(path)),
    ];
    expect(own.count).toBe(builtIn.count);
  });

  test('that cannot be read show nothing, and forbid all that they could', async () => {
    const { caller, slug } = await callerWithRules(strongroom, admin, project.id, on(READ));
    const { caller: both } = await callerWithRules(strongroom, admin, project.id, on(READ));
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${both.identityId}`;
    mustSucceed(await admin.patch(path, { roles: [{ role: 'viewer' }, { role: slug }] }));
    const store = (permissions: unknown) =>
      strongroom.sql('update project_role set permissions = $1::jsonb where project_id = $2 and slug = $3', [
        JSON.stringify(permissions),
        project.id,
        slug,
      ]);
    for (const conditions of [
      { environment: { $regex: '.*' } },
      { secretOwner: 'me' },
      { secretPath: { $glob: '(/)' } },
      7,
    ]) {
      await store([on(READ, conditions as never)]);
      expect(await caller.get(query('dev'))).toBeError(403, 'PERMISSION_DENIED');
      expect(await seen(both, 'dev')).toEqual(all('dev'));
      await store([not('readValue', conditions as never)]);
      expect(await seen(both, 'dev')).toEqual(all('dev').map((name) => `${name}?`));
    }
    for (const broken of ['x', { subject: 'secrets' }, [null], [{ inverted: 'maybe' }]]) {
      await store(broken);
      for (const each of [caller, both]) expect(await each.get(query('dev'))).toBeError(403, 'PERMISSION_DENIED');
      expect((await admin.get(`/api/v1/projects/${project.id}/roles/slug/${slug}`)).status).toBe(200);
    }
  });
});
