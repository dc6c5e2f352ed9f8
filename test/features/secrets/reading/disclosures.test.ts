import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../../kit/caller.js';
import { type Caller, LENIENT, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';
import { tamper, untilSealed } from '../../../kit/trail.js';
import { disclosedBy, get, graphql, idOf, makeScene, type Scene, SECRETS } from './disclosure-scene.js';

const strongroom = useSharedStrongroom(LENIENT);

const EXPANDED = { expandSecretReferences: 'true' };
const IMPORTS = { include_imports: 'true' };
const byId = (name: string, rest = '') =>
  graphql(`query ($id: ID!) { secret(id: $id${rest}) { secretValue } }`, ({ ids }) => ({ id: ids.get(name) }));

type Who = 'admin' | 'user' | 'limited';
type Case = readonly [
  what: string,
  who: Who,
  send: (caller: Caller, scene: Scene) => Promise<Reply>,
  records: string[],
];

const references = graphql(
  'query ($id: ID!) { secrets(projectId: $id, environment: "dev", secretPath: "/app", viewSecretValue: false) { nodes { references { secretKey } } } }',
);

const LIST = 'secret:list';
const REFERENCES = 'secret:list-references';
const READS: Case[] = [
  ['a list', 'admin', get('', 'app'), [`${LIST} DB SHY URL`]],
  ['a list with what is hidden', 'limited', get('', 'app'), [`${LIST} DB URL`]],
  ['a list without values', 'admin', get('', 'app', { viewSecretValue: 'false', ...IMPORTS, ...EXPANDED }), [LIST]],
  ['a list, expanded', 'admin', get('', 'app', EXPANDED), [`${LIST} CORE DB DEEP SHY URL`]],
  ['an expansion that is forbidden', 'limited', get('', 'app', EXPANDED), [`${LIST} DB URL`]],
  ['a list with imports', 'admin', get('', 'app', IMPORTS), [`${LIST} DB LIB LIBDB LIBREF SHY URL`]],
  [
    'a recursive list with imports, expanded',
    'admin',
    (caller, { at }) =>
      caller.get(
        `${SECRETS}?${new URLSearchParams({ ...at.app, secretPath: '/', recursive: 'true', ...IMPORTS, ...EXPANDED })}`,
      ),
    [`${LIST} CORE DB DEEP LIB LIBDB LIBREF SHY URL`],
  ],
  ['an empty list', 'admin', get('', 'app', { tagSlugs: 'none' }), [LIST]],
  ['a list with an own value', 'user', get('', 'app', EXPANDED), [`${LIST} CORE DB DEEP LIB OWN SHY URL`]],
  [
    'a page',
    'admin',
    graphql(
      'query ($id: ID!) { secrets(projectId: $id, environment: "dev", secretPath: "/app", first: 1) { nodes { secretValue } } }',
    ),
    [`${LIST} DB`],
  ],
  ['a secret by key', 'admin', get('/DB', 'app'), ['secret:get DB']],
  ['a hidden one', 'limited', get('/SHY', 'app'), ['secret:get']],
  ['one without its value', 'admin', get('/DB', 'app', { viewSecretValue: 'false' }), ['secret:get']],
  ['a secret by key, expanded', 'admin', get('/URL', 'app', EXPANDED), ['secret:get CORE DB DEEP URL']],
  [
    'a secret by key from an import, expanded',
    'admin',
    get('/LIBREF', 'app', { ...IMPORTS, ...EXPANDED }),
    ['secret:get LIB LIBREF'],
  ],
  ['an own value', 'user', get('/DB', 'app', { type: 'personal', ...EXPANDED }), ['secret:get LIB OWN']],
  ['an old version', 'admin', get('/URL', 'app', { version: '1' }), ['secret:get URL']],
  ['a secret by id', 'admin', byId('DB'), ['secret:get DB']],
  ['a secret by id, expanded', 'admin', byId('CORE', ', expandSecretReferences: true'), ['secret:get CORE DEEP']],
  [
    'nodes',
    'limited',
    graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Secret { secretValue } } }', ({ ids }) => ({
      ids: [ids.get('DB'), ids.get('SHY'), ids.get('CORE')],
    })),
    ['secret:get', 'secret:get DB'],
  ],
  [
    'lists inside of another answer, expanded',
    'admin',
    graphql(`query ($id: ID!) { project(id: $id) { environments {
      secrets(expandSecretReferences: true) { nodes { secretValue } }
      folders { nodes { secrets(expandSecretReferences: true) { nodes { secretValue } } } } } } }`),
    ['project:get', `${LIST} CORE DB DEEP SHY URL`, `${LIST} CORE DEEP`, `${LIST} LIB LIBDB LIBREF`],
  ],
  [
    'folders of secrets of secrets',
    'admin',
    graphql(
      'query ($id: ID!) { secret(id: $id, viewSecretValue: false) { folder { secrets(first: 1) { nodes { secretValue } } } } }',
      idOf('LIB'),
    ),
    ['secret:get', `${LIST} LIBDB`],
  ],
  [
    'a dotenv file',
    'admin',
    get('/export', 'app', { format: 'dotenv', ...IMPORTS }),
    [`${LIST} DB LIB LIBREF SHY URL`],
  ],
  ['a json file, expanded', 'limited', get('/export', 'app', { format: 'json', ...EXPANDED }), [`${LIST} DB URL`]],
  [
    'a yaml file with an own value',
    'user',
    get('/export', 'app', { format: 'yaml', ...EXPANDED }),
    [`${LIST} CORE DB DEEP LIB OWN SHY URL`],
  ],
  [
    'versions',
    'admin',
    graphql('query ($id: ID!) { secretVersions(secretId: $id) { nodes { secretValue } } }', idOf('URL')),
    ['secret-version:list URL'],
  ],
  [
    'versions of a hidden value',
    'limited',
    graphql('query ($id: ID!) { secretVersions(secretId: $id) { nodes { secretValue } } }', idOf('SHY')),
    ['secret-version:list'],
  ],
  [
    'a version',
    'admin',
    graphql('query ($id: ID!) { secretVersion(secretId: $id, version: 1) { secretValue } }', idOf('URL')),
    ['secret-version:get URL'],
  ],
  [
    'a comparison of versions',
    'admin',
    graphql(
      'query ($id: ID!) { compareSecretVersions(secretId: $id, from: 1, to: 1) { from { secretValue } } }',
      idOf('URL'),
    ),
    ['secret-version:compare URL'],
  ],
  [
    'a search with values',
    'limited',
    graphql(
      'query ($id: ID!) { searchSecrets(input: { projectIds: [$id], key: { glob: "*" }, viewSecretValue: true }) { nodes { secret { secretValue } } } }',
    ),
    ['secret:search DB LIB LIBDB LIBREF URL'],
  ],
  [
    'a search without values',
    'admin',
    graphql(
      'query ($id: ID!) { searchSecrets(input: { projectIds: [$id], key: { glob: "*" }, viewSecretValue: false }) { nodes { secret { secretKey } } } }',
    ),
    ['secret:search'],
  ],
  ['what values reference, without the values', 'admin', references, [LIST, `${REFERENCES} DB SHY URL`]],
  ['what values reference, of which some are hidden', 'limited', references, [LIST, `${REFERENCES} DB URL`]],
  [
    'what values reference beside them',
    'admin',
    graphql('query ($id: ID!) { secret(id: $id) { secretValue references { secretKey } } }', idOf('URL')),
    ['secret:get URL', `${REFERENCES} URL`],
  ],
  [
    'what a hidden value references',
    'limited',
    graphql('query ($id: ID!) { secret(id: $id) { references { secretKey } } }', idOf('SHY')),
    ['secret:get'],
  ],
  [
    'equal values',
    'admin',
    graphql('query ($id: ID!) { duplicateValues(input: { projectIds: [$id] }) { nodes { count } } }'),
    ['secret:duplicates'],
  ],
  [
    'a comparison of environments',
    'admin',
    graphql(
      'query ($id: ID!) { compareEnvironments(input: { projectId: $id, environments: ["dev", "prod"] }) { nodes { verdict } } }',
    ),
    ['secret:compare'],
  ],
  [
    'uses',
    'admin',
    graphql(
      'query ($id: ID!) { whereUsed(input: { secret: { projectId: $id, environment: "prod", secretKey: "CORE" } }) { nodes { __typename } } }',
    ),
    ['secret:where-used'],
  ],
  [
    'a preview of a restore',
    'admin',
    graphql(
      'mutation ($input: RestoreSecretsInput!) { restoreSecrets(input: $input) { changed { secretKey } } }',
      ({ at }) => ({ input: { ...at.app, at: new Date(), dryRun: true } }),
    ),
    ['secret:preview-restore'],
  ],
];

const CHANGES: Case[] = [
  [
    'a change',
    'admin',
    (caller, { at }) => caller.patch(`${SECRETS}/DB`, { ...at.app, secretComment: 'x' }),
    ['secret:update DB'],
  ],
  [
    'a change of a hidden one',
    'limited',
    (caller, { at }) => caller.patch(`${SECRETS}/SHY`, { ...at.app, secretComment: 'x' }),
    ['secret:update'],
  ],
  [
    'changes of many',
    'limited',
    (caller, { at }) =>
      caller.patch(`${SECRETS}/batch`, {
        ...at.app,
        secrets: ['DB', 'SHY', 'URL'].map((secretKey) => ({ secretKey, secretComment: 'x' })),
      }),
    ['secret:update DB URL'],
  ],
  [
    'a change of an own value',
    'user',
    (caller, { at }) => caller.patch(`${SECRETS}/DB`, { ...at.app, type: 'personal', secretComment: 'x' }),
    ['personal-secret:update OWN'],
  ],
  [
    'a file that is taken in',
    'admin',
    (caller, { at }) =>
      caller.post(`${SECRETS}/import`, { ...at.app, format: 'dotenv', content: 'DB=new\n', mode: 'overwrite' }),
    ['secret:import'],
  ],
  [
    'a move',
    'admin',
    graphql(
      'mutation ($input: MoveSecretsInput!) { moveSecrets(input: $input) { secretIds } }',
      ({ projectId, ids }) => ({
        input: {
          projectId,
          source: { environment: 'dev', secretPath: '/lib' },
          destination: { environment: 'prod', secretPath: '/' },
          secretIds: [ids.get('LIBREF')],
        },
      }),
    ),
    ['secret:move'],
  ],
  [
    'a restore of a version',
    'admin',
    graphql(
      'mutation ($input: RestoreSecretInput!) { restoreSecret(input: $input) { secret { secretValue } } }',
      ({ ids }) => ({
        input: { id: ids.get('DB'), version: 1 },
      }),
    ),
    ['secret:restore DB'],
  ],
  ['a deletion', 'admin', (caller, { at }) => caller.delete(`${SECRETS}/CORE`, at.prod), ['secret:delete CORE']],
  [
    'deletions of many',
    'admin',
    (caller, { at }) =>
      caller.delete(`${SECRETS}/batch`, { ...at.lib, secrets: [{ secretKey: 'LIB' }, { secretKey: 'DB' }] }),
    ['secret:delete LIB LIBDB'],
  ],
  [
    'a deletion of an own value',
    'user',
    (caller, { at }) => caller.delete(`${SECRETS}/DB`, { ...at.app, type: 'personal' }),
    ['personal-secret:delete OWN'],
  ],
];

let shared: Scene;
beforeAll(async () => {
  shared = await makeScene(strongroom);
});

const isDone = ({ status, body }: Reply): boolean => status === 200 && body?.errors === undefined;

describe('a record names each secret whose value a read discloses, and no other', () => {
  test.each(READS)('%s', async (_, who, send, expected) => {
    const { reply, records } = await disclosedBy(strongroom, shared, () => send(shared[who], shared));

    expect(isDone(reply) ? 'done' : reply.text).toBe('done');
    expect(records).toEqual(expected);
  });

  test('also when the reply is kept, and when it is not sent again', async () => {
    const send = () => get('', 'app', { ...EXPANDED, ...IMPORTS })(shared.admin, shared);
    const expected = [`${LIST} CORE DB DEEP LIB LIBDB LIBREF SHY URL`];
    const { reply, records } = await disclosedBy(strongroom, shared, send);
    expect(records).toEqual(expected);
    expect((await disclosedBy(strongroom, shared, send)).records).toEqual(expected);

    const path = `${SECRETS}?${new URLSearchParams({ ...shared.at.app, ...EXPANDED, ...IMPORTS })}`;
    const unsent = await disclosedBy(strongroom, shared, () =>
      shared.admin.get(path, { 'if-none-match': String(reply.headers.etag) }),
    );
    expect({ status: unsent.reply.status, records: unsent.records }).toEqual({ status: 304, records: expected });
  });

  test('a value that does not open is not named', async () => {
    const flip = () =>
      strongroom.sql(
        'update secret set value_sealed = set_byte(value_sealed, 40, get_byte(value_sealed, 40) # 1) where id = $1',
        [shared.ids.get('DEEP')],
      );
    const { admin } = shared;
    // An empty filter makes it another request than those in the response cache.
    const list = () => admin.get(`${SECRETS}?${new URLSearchParams({ ...shared.at.app, ...EXPANDED })}&tagSlugs=`);
    await flip();
    const listed = await disclosedBy(strongroom, shared, list);
    const got = await disclosedBy(strongroom, shared, () => get('/DEEP', 'prod')(admin, shared));
    await flip();

    expect(listed.records).toEqual([`${LIST} CORE DB SHY URL`]);
    expect(got).toMatchObject({ reply: { status: 503 }, records: ['secret:get'] });
  });
});

describe('and each secret whose value the response to a change discloses', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await makeScene(strongroom);
  });

  test.each(CHANGES)('%s', async (_, who, send, expected) => {
    const { reply, records } = await disclosedBy(strongroom, scene, () => send(scene[who], scene));

    expect(isDone(reply) ? 'done' : reply.text).toBe('done');
    expect(records).toEqual(expected);
  });

  test('creations, and their answers when they are sent again', async () => {
    const { admin, at, ids } = shared;
    const key = { 'idempotency-key': randomUUID() };
    const body = {
      ...at.lib,
      secrets: [
        { secretKey: 'N1', secretValue: '1' },
        { secretKey: 'N2', secretValue: '2' },
      ],
    };
    const send = () => admin.request({ method: 'POST', path: `${SECRETS}/batch`, headers: key, body });
    const made = await disclosedBy(strongroom, shared, send);
    for (const { secretKey, id } of mustSucceed(made.reply).body.secrets) ids.set(secretKey, id);
    const again = await disclosedBy(strongroom, shared, send);

    expect(made.records[0]).toMatch(/^secret:create \S{36} \S{36}$/);
    expect(again.records).toEqual(['idempotency:replay N1 N2']);
  });
});

describe('a list of many', () => {
  const MANY = 1_000;
  let list: (as?: Caller) => Promise<Reply>;
  let page: () => Promise<Reply>;
  let patient: Caller;
  const scene = { ids: new Map<string, string>() };
  /** Any secret of the whole list, and of the page of it. */
  let named: string;
  beforeAll(async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', MANY);
    patient = admin.patient;
    const path = `${SECRETS}?projectId=${project.id}&environment=dev`;
    list = (as = admin) => as.get(path);
    page = () => admin.get(`${path}&limit=${MANY / 2}`);
    named = mustSucceed(await page()).body.secrets[0].id;
  });
  const ofSize = (size: number) => `cardinality(ids) = ${size} and ids @> array['${named}'::uuid]`;
  const lists = async (): Promise<number> =>
    Number((await strongroom.sql(`select count(*) from audit_disclosure where ${ofSize(MANY)}`))[0]?.count);

  test('is named once, however often it is read, without further statements', async () => {
    const first = await disclosedBy(strongroom, scene, () => list());
    const rest = await Promise.all(Array.from({ length: 20 }, () => list(patient)));
    const { count } = await strongroom.statements(() => list());

    expect(first.records[0]?.split(' ')).toHaveLength(1 + MANY);
    expect(rest.map(({ status }) => status)).toEqual(rest.map(() => 200));
    expect(await lists()).toBe(1);
    expect(count).toBeLessThanOrEqual(4);
  });

  test('is found by the id of any secret in it', async () => {
    const { reply } = await disclosedBy(strongroom, scene, () => list());
    const [found] = await strongroom.sql(
      `select count(*) from audit_record where request_id = $2
         and disclosed in (select digest from audit_disclosure where ids @> array[$1::uuid])`,
      [reply.body.secrets[MANY - 1].id, reply.headers['x-request-id']],
    );
    expect(found?.count).toBe('1');
  });

  test('is stored again when the database was set back', async () => {
    await list();
    await untilSealed(strongroom.sql);
    await tamper(strongroom.sql, `delete from audit_disclosure where ${ofSize(MANY)}`);
    const { records } = await disclosedBy(strongroom, scene, () => list());
    expect(records[0]?.split(' ')).toHaveLength(1 + MANY);
  });

  test('is missed by verify-audit when it is deleted, and found when it is edited', async () => {
    await list();
    await page();
    await untilSealed(strongroom.sql);
    const [edited, deleted] = [ofSize(MANY), ofSize(MANY / 2)];
    const kept = 'kept_disclosure';
    await strongroom.sql(`create table ${kept} as select * from audit_disclosure where ${edited} or ${deleted}`);
    try {
      await tamper(
        strongroom.sql,
        `update audit_disclosure set ids = ids[2:] where ${edited}`,
        `delete from audit_disclosure where ${deleted}`,
      );
      const { faults } = await strongroom.verifyAudit();
      const ofEdited = faults.filter((line) => line.startsWith('disclosure '));
      const ofDeleted = faults.filter((line) => !line.startsWith('disclosure '));
      expect(ofEdited).toEqual([expect.stringMatching(/^disclosure [0-9a-f]{64}: edited$/)]);
      expect(ofDeleted.length).toBeGreaterThan(0);
      for (const violation of ofDeleted)
        expect(violation).toMatch(/^row \d+ \(.*\): its list of disclosed secrets was deleted$/);
    } finally {
      // As it was: others share the trail, and the run ends with a look at it.
      await tamper(
        strongroom.sql,
        `delete from audit_disclosure where digest in (select digest from ${kept})`,
        `insert into audit_disclosure select * from ${kept}`,
        `drop table ${kept}`,
      );
    }
  });
});
