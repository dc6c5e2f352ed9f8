import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isObjectType } from 'graphql';
import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../../../schema/schema.graphql'), 'utf8'));

const PROJECT = 'projectId project { __typename id }';
const ENVIRONMENT = 'environmentId environmentSlug environment { __typename id slug }';
const FOLDER = 'folderId folder { __typename id }';
const SECRET = 'secretId secret { __typename id secretValue }';
const ACTOR =
  'actor { __typename actorId actorType user { id } identity { id } membershipId membership { __typename id } }';
const RECIPIENTS = 'secretReminderRecipients secretReminderRecipientUsers { id }';
const AT = 'projectId: $id, environment: "dev"';

/** Lists with everything that their rows lead to. */
const LISTS: Readonly<Record<string, string>> = {
  secrets: `secrets(${AT}, secretPath: "/app", first: 20) {
    nodes { __typename ${PROJECT} ${ENVIRONMENT} ${FOLDER} ${ACTOR} ${RECIPIENTS} references { secretKey } } }`,
  versions: `secrets(${AT}, secretPath: "/app", first: 20) {
    nodes { versions(first: 5) { nodes { __typename ${ENVIRONMENT} ${ACTOR} } } } }`,
  imported: `secrets(${AT}, secretPath: "/app", includeImports: true) {
    imports { __typename ${ENVIRONMENT} ${FOLDER} secrets { __typename ${ENVIRONMENT} } } }`,
  unreadable: `secrets(${AT}, secretPath: "/broken") { readIssues { __typename ${SECRET} } }`,
  searchSecrets: `searchSecrets(input: { projectIds: [$id] }) { nodes { __typename ${PROJECT} secret { __typename ${ENVIRONMENT} } } }`,
  secretsWithValue: `secretsWithValue(input: { projectIds: [$id], value: "\${prod.lib.TARGET}" }) {
    nodes { __typename ${PROJECT} ${ENVIRONMENT} ${SECRET} } }`,
  duplicateValues: `duplicateValues(input: { projectIds: [$id] }) {
    nodes { secrets { __typename ${PROJECT} ${ENVIRONMENT} ${SECRET} } } }`,
  compareEnvironments: `compareEnvironments(input: { projectId: $id, environments: ["prod", "dev"], recursive: true }) {
    nodes { sides { __typename ${ENVIRONMENT} ${SECRET} } } }`,
  whereUsed: `whereUsed(input: { folder: { projectId: $id, environment: "prod", path: "/lib" } }) {
    nodes { __typename ${PROJECT} ${ENVIRONMENT} ${FOLDER} ${SECRET} } }`,
  deletedSecrets: `deletedSecrets(${AT}, secretPath: "/app") { nodes { __typename ${ENVIRONMENT} ${ACTOR} } }`,
  secretVersions: `secretVersions(secretId: $secretId) {
    nodes { __typename ${PROJECT} ${ENVIRONMENT} ${FOLDER} ${SECRET} ${ACTOR} ${RECIPIENTS} } }`,
  unreadableVersions: `secretVersions(secretId: $broken) { readIssues { __typename ${SECRET} } }`,
  folders: `folders(${AT}, recursive: true) { nodes { __typename ${PROJECT} ${ENVIRONMENT} parentId parent { __typename id } } }`,
  secretImports: `secretImports(${AT}, path: "/app") { nodes { __typename ${PROJECT}
    folder { __typename ${ENVIRONMENT} ${FOLDER} } source { __typename ${ENVIRONMENT} ${FOLDER} } } }`,
};

/** One list for itself: what root fields of one document record together depends on the moment. */
const documentOf = (name: string, ids: Crowd['ids']): string =>
  `{ ${(LISTS[name] as string).replace(/\$(\w+)/g, (_, id: keyof Crowd['ids']) => `"${ids[id]}"`)} }`;

interface Crowd {
  readonly admin: Caller;
  readonly ids: { readonly id: string; readonly secretId: string; readonly broken: string };
}

type Row = Readonly<Record<string, unknown>>;

/** All objects in a response. */
function rowsIn(value: unknown): Row[] {
  if (Array.isArray(value)) return value.flatMap(rowsIn);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Row, ...Object.values(value).flatMap(rowsIn)];
}

/** What a response has of ids beside objects, as `Type.field`. */
const pairsIn = (row: Row): string[] =>
  Object.keys(row)
    .filter((name) => name.endsWith('Id') && name.slice(0, -2) in row)
    .map((name) => `${row.__typename}.${name}`);

describe('what rows of lists lead to', () => {
  const strongroom = useSharedStrongroom();
  const crowds: Crowd[] = [];

  /** `dev /app` has secrets of a user, which name `TARGET` of `prod /lib` and are equal, and imports; so many of each kind. */
  async function crowdOf(size: number): Promise<Crowd> {
    const { admin, project } = await strongroom.seed.project();
    const { id } = project;
    const user = await strongroom.seed.user(admin, { project: id, projectRoles: ['member'] });
    const names = (word: string): string[] => Array.from({ length: size }, (_, index) => `${word}_${index}`);
    const put = async (caller: Caller, environment: string, secretPath: string, secrets: object[]) =>
      mustSucceed(await caller.post('/api/v4/secrets/batch', { projectId: id, environment, secretPath, secrets }));
    for (const [environment, name] of [
      ...[['dev', 'app'] as const, ['dev', 'broken'] as const, ['prod', 'lib'] as const],
      ...names('source').map((source) => ['prod', source] as const),
    ])
      mustSucceed(await admin.post('/api/v2/folders', { projectId: id, environment, name }));
    for (const name of ['lib', ...names('source')]) {
      const source = { environment: 'prod', path: `/${name}` };
      mustSucceed(
        await admin.post('/api/v2/secret-imports', { projectId: id, environment: 'dev', path: '/app', import: source }),
      );
    }
    await put(admin, 'prod', '/lib', [{ secretKey: 'TARGET', secretValue: 'target' }]);
    const secretReminderRecipients = [user.userId];
    const value = { secretValue: '${prod.lib.TARGET}', secretReminderRecipients };
    await put(
      user,
      'dev',
      '/app',
      ['KEY', ...names('KEY')].map((secretKey) => ({ secretKey, ...value })),
    );
    await put(
      admin,
      'dev',
      '/app',
      names('GONE').map((secretKey) => ({ secretKey, secretValue: 'v' })),
    );
    for (const key of names('GONE'))
      mustSucceed(
        await user.delete(`/api/v4/secrets/${key}`, { projectId: id, environment: 'dev', secretPath: '/app' }),
      );
    await put(
      admin,
      'dev',
      '/broken',
      names('BROKEN').map((secretKey) => ({ secretKey, secretValue: secretKey })),
    );
    for (const table of ['secret', 'secret_version'])
      await strongroom.sql(
        `update ${table} set value_sealed = (select value_sealed from secret where project_id = $1 and key = 'TARGET')
         where project_id = $1 and key like 'BROKEN%'`,
        [id],
      );
    const idOf = async (key: string): Promise<string> => {
      const [row] = await strongroom.sql<{ id: string }>('select id from secret where project_id = $1 and key = $2', [
        id,
        key,
      ]);
      return row?.id ?? '';
    };
    const secretId = await idOf('KEY_0');
    for (const name of names('v')) {
      const change = { projectId: id, environment: 'dev', secretPath: '/app', secretComment: name };
      mustSucceed(await admin.patch('/api/v4/secrets/KEY_0', change));
    }
    return { admin, ids: { id, secretId, broken: await idOf('BROKEN_0') } };
  }

  beforeAll(async () => {
    for (const size of [2, 9]) crowds.push(await crowdOf(size));
  });

  const last = (): Crowd => crowds.at(-1) as Crowd;

  test.each(Object.keys(LISTS))('has the id that stands beside it: %s', async (name) => {
    const { admin, ids } = last();
    const data = await admin.data(documentOf(name, ids));
    const rows = rowsIn(data).filter((row) => pairsIn(row).length > 0 || 'actorId' in row);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      for (const pair of pairsIn(row)) {
        const field = pair.replace(/^.*\./, '').slice(0, -2);
        expect([pair, (row[field] as Row | null)?.id ?? null]).toEqual([pair, row[`${field}Id`]]);
      }
      if ('environmentSlug' in row) expect(row.environment).toMatchObject({ slug: row.environmentSlug });
      if ('actorId' in row) {
        const [there, other] = row.actorType === 'USER' ? [row.user, row.identity] : [row.identity, row.user];
        expect([there, other]).toEqual([{ id: row.actorId }, null]);
      }
      if ('secretReminderRecipientUsers' in row)
        expect(row.secretReminderRecipientUsers).toEqual(
          (row.secretReminderRecipients as string[]).map((id) => ({ id })),
        );
    }
  });

  test('is tried of every pair of id and object that the slice has', async () => {
    const { admin, ids } = last();
    const tried = new Set<string>();
    for (const name of Object.keys(LISTS))
      for (const row of rowsIn(await admin.data(documentOf(name, ids))))
        for (const pair of pairsIn(row)) tried.add(pair);
    const pairs = Object.values(SCHEMA.getTypeMap())
      .filter(isObjectType)
      .filter(({ name }) => /^(Secret|Folder|Deleted|Duplicate)/.test(name))
      .flatMap((type) =>
        Object.keys(type.getFields())
          .filter((name) => name.endsWith('Id') && name.slice(0, -2) in type.getFields())
          .map((name) => `${type.name}.${name}`),
      );
    expect([...tried].toSorted()).toEqual(pairs.toSorted());
  });

  test.each(Object.keys(LISTS))('takes the same statements for two rows and for nine: %s', async (name) => {
    const counts: number[] = [];
    for (const { admin, ids } of crowds) {
      const document = documentOf(name, ids);
      await admin.data(document);
      counts.push((await strongroom.statements(() => admin.data(document))).count);
    }
    expect(counts[1]).toBe(counts[0]);
  });

  test.each([
    ['versions', 'Secret', 'version', ''],
    ['imports', 'Folder', 'position', ''],
    ['imports', 'Environment', 'position', 'path: "/app", '],
  ] as const)('is paged as it is listed: %s of %s', async (list, type, field, args) => {
    const { admin, ids } = last();
    const [of] = await strongroom.sql<Record<string, string>>(
      `select id as "Folder", environment_id as "Environment", '${ids.secretId}' as "Secret" from folder
       where project_id = $1 and path = '/app'`,
      [ids.id],
    );
    const ask = async (selection: string) =>
      (await admin.data(`{ node(id: "${of?.[type]}") { ... on ${type} { ${selection} } } }`)).node;
    const whole: Row[] = (await ask(`${list}${args && `(${args})`} { nodes { ${field} } }`))[list].nodes;
    const paged: Row[] = [];
    let after = 'null';
    for (let more = true; more; ) {
      const page = (
        await ask(`${list}(${args}first: 4, after: ${after}) { nodes { ${field} } pageInfo { hasNextPage endCursor } }`)
      )[list];
      expect(page.nodes.length).toBeLessThanOrEqual(4);
      paged.push(...page.nodes);
      more = page.pageInfo.hasNextPage;
      after = JSON.stringify(page.pageInfo.endCursor);
    }
    expect(whole).toHaveLength(10);
    expect(paged).toEqual(whole);
  });

  const duplicates = (selection: string): string =>
    `query ($id: ID!) { duplicateValues(input: { projectIds: [$id] }) { nodes { secrets { ${selection} } } } }`;
  const recordsOf = async (reply: Reply) =>
    (await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']])).filter(
      ({ action }) => action === 'secret:get',
    );

  test('leaves a record of each secret, which says whether its value was shown', async () => {
    const { admin, ids } = last();
    for (const [field, viewedValues] of [
      ['secretKey', false],
      ['secretValue', true],
    ] as const) {
      const reply = mustSucceed(
        await admin.graphql(duplicates(`secretId secret { ... { ${field} } }`), { id: ids.id }),
      );
      const shown: { secretId: string }[] = reply.body.data.duplicateValues.nodes[0].secrets;
      const rows = await recordsOf(reply);
      expect(rows.map(({ facts }) => facts.secretId).toSorted()).toEqual(
        shown.map(({ secretId }) => secretId).toSorted(),
      );
      for (const { facts, disclosed } of rows) {
        expect(facts.viewedValues).toBe(viewedValues);
        expect(disclosed !== null).toBe(viewedValues);
      }
    }
  });

  test('is null where the caller may not read it, with one error for the field, and keeps hidden values hidden', async () => {
    const { admin, ids } = last();
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      ids.id,
      { subject: 'secrets', action: 'describeSecret' },
      { subject: 'secrets', action: 'readValue', conditions: { environment: 'prod' } },
    );
    const list = `secrets(${AT}, secretPath: "/app") { nodes { secretKey ${ENVIRONMENT} ${FOLDER} ${ACTOR} ${RECIPIENTS} } }`;
    const reply = await caller.graphql(`query ($id: ID!) { ${list} }`, { id: ids.id });
    for (const row of reply.body.data.secrets.nodes)
      expect(row).toMatchObject({
        ...{ environmentSlug: 'dev', environment: null, folder: null, secretReminderRecipientUsers: null },
        actor: { user: null, identity: null, membership: null },
      });
    const denied = reply.body.errors.map(({ path, extensions }: { path: unknown[]; extensions: { code: string } }) => [
      extensions.code,
      path.filter((name) => typeof name === 'string').join('.'),
    ]);
    expect(denied.toSorted()).toEqual(
      ['actor.identity', 'actor.membership', 'actor.user', 'environment', 'folder', 'secretReminderRecipientUsers']
        .map((field) => ['PERMISSION_DENIED', `secrets.nodes.${field}`])
        .toSorted(),
    );
    const compare = `query ($id: ID!) { ${(LISTS.compareEnvironments as string).replace(/environmentId .*?slug }/, 'environmentSlug')} }`;
    const sides = rowsIn((await caller.data(compare, { id: ids.id })).compareEnvironments).filter(
      ({ secret }) => secret != null,
    );
    expect(new Set(sides.map(({ environmentSlug }) => environmentSlug))).toEqual(new Set(['dev', 'prod']));
    for (const { environmentSlug, secret } of sides)
      expect((secret as Row).secretValue !== null).toBe(environmentSlug === 'prod');
  });

  test('follows a move and a copy, with a record of each value that is shown', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const make = async (key: string): Promise<string> =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretValue: `value of ${key}` })).body.secret.id;
    const secretIds = [await make('B'), await make('A')];
    const input = (environment: string) => ({
      input: { projectId: project.id, secretIds, source: { environment: 'dev' }, destination: { environment } },
    });
    const ask = (verb: string, environment: string, fields: string) =>
      admin.graphql(
        `mutation ($input: ${verb}SecretsInput!) { done: ${verb.toLowerCase()}Secrets(input: $input) { secretIds secrets { ${fields} } } }`,
        input(environment),
      );
    const copied = mustSucceed(await ask('Copy', 'prod', 'id secretKey secretValue environmentSlug'));
    expect(copied.body.data.done.secrets).toEqual(
      ['B', 'A'].map((key, index) => ({
        ...{ id: copied.body.data.done.secretIds[index], secretKey: key, secretValue: `value of ${key}` },
        environmentSlug: 'prod',
      })),
    );
    const moved = mustSucceed(await ask('Move', 'staging', 'id secretKey environmentSlug'));
    expect(moved.body.data.done.secrets).toEqual(
      ['B', 'A'].map((secretKey, index) => ({ id: secretIds[index], secretKey, environmentSlug: 'staging' })),
    );
    for (const [reply, viewedValues] of [
      [copied, true],
      [moved, false],
    ] as const) {
      const rows = await strongroom.auditRows(`request_id = $1 and action = 'secret:get'`, [
        reply.headers['x-request-id'],
      ]);
      expect(rows.map(({ facts }) => facts.viewedValues)).toEqual([viewedValues, viewedValues]);
    }
  });
});
