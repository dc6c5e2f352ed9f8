import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.js';
import { addProjects } from '../../gateway/crowd.js';

const strongroom = useSharedStrongroom(LENIENT);

let admin: Caller;
let project: string;
beforeAll(async () => {
  ({ admin } = await strongroom.seed.organization());
  project = (await strongroom.seed.projectOf(admin)).id;
});

const create = (key: string, secretValue = 'value') =>
  admin.post(`/api/v3/secrets/raw/${key}`, { workspaceId: project, environment: 'dev', secretValue }).then(mustSucceed);
const change = async (key: string, changes: object) =>
  mustSucceed(
    await admin.patch(`/api/v3/secrets/raw/${key}`, { workspaceId: project, environment: 'dev', ...changes }),
  );

const AGES = `query ($input: SearchSecretsInput!) { searchSecrets(input: $input, first: 1000) {
  nodes { secret { secretKey version createdAt updatedAt valueChangedAt } } } }`;
interface Aged {
  readonly secretKey: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly valueChangedAt: string;
}
const found = async (filter: object = {}): Promise<Aged[]> =>
  (await admin.data(AGES, { input: { projectIds: [project], ...filter } })).searchSecrets.nodes.map(
    ({ secret }: { secret: Aged }) => secret,
  );
const one = async (key: string): Promise<Aged> => (await found({ key: { equals: key } }))[0] as Aged;

test('a new value is young; a comment, a tag, a new key and the same value again leave it as old as it is', async () => {
  await create('AGING');
  const first = await one('AGING');
  expect(first.valueChangedAt).toBe(first.createdAt);

  const { tag } = (
    await admin.data('mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }', {
      input: { projectId: project, slug: 'old', color: '#336699' },
    })
  ).createTag;
  for (const same of [
    { secretComment: 'a comment' },
    { tagIds: [tag.id] },
    { newSecretName: 'AGED' },
    { newSecretName: 'AGING' },
    { secretValue: 'value' },
  ]) {
    const key = (await found({ key: { glob: 'AG*' } }))[0]?.secretKey as string;
    await change(key, same);
    const aged = (await found({ key: { glob: 'AG*' } }))[0] as Aged;
    expect([same, aged.valueChangedAt]).toEqual([same, first.valueChangedAt]);
  }
  const before = await one('AGING');
  expect(Date.parse(before.updatedAt)).toBeGreaterThan(Date.parse(first.valueChangedAt));

  await change('AGING', { secretValue: 'another' });
  const young = await one('AGING');
  expect(young.valueChangedAt).toBe(young.updatedAt);
});

test('a value whose reference follows a renamed secret is as old as it was', async () => {
  await create('TARGET');
  await create('USER', 'see ${TARGET}');
  const { valueChangedAt } = await one('USER');
  await change('TARGET', { newSecretName: 'RENAMED' });
  const after = await one('USER');
  expect(after.version).toBe(2);
  expect(after.valueChangedAt).toBe(valueChangedAt);
});

test('old values and unchanged secrets are found across projects, by time alone', async () => {
  const other = (await strongroom.seed.projectOf(admin)).id;
  for (const projectId of [project, other])
    for (const key of ['OLD_VALUE', 'NEW_VALUE'])
      mustSucceed(
        await admin.post(`/api/v3/secrets/raw/${key}`, {
          workspaceId: projectId,
          environment: 'dev',
          secretValue: 'v',
        }),
      );
  const [{ now } = { now: '' }] = await strongroom.sql<{ now: string }>('select now()::text as now');
  const time = new Date(now).toISOString();
  for (const projectId of [project, other]) {
    const place = { workspaceId: projectId, environment: 'dev' };
    mustSucceed(await admin.patch('/api/v3/secrets/raw/OLD_VALUE', { ...place, secretComment: 'touched' }));
    mustSucceed(await admin.patch('/api/v3/secrets/raw/NEW_VALUE', { ...place, secretValue: 'new' }));
  }
  const filter = { projectIds: [project, other], key: { glob: '*_VALUE' } };
  const keysOf = async (more: object): Promise<string[]> =>
    (await found({ ...filter, ...more })).map((it) => it.secretKey);
  expect(await keysOf({ valueChangedBefore: time })).toEqual(['OLD_VALUE', 'OLD_VALUE']);
  expect(await keysOf({ updatedBefore: time })).toEqual([]);
  expect(await keysOf({ valueChangedBefore: new Date(Date.parse(time) + 3_600_000).toISOString() })).toHaveLength(4);
  expect(await keysOf({ valueChangedBefore: '2000-01-01T00:00:00Z' })).toEqual([]);
});

test('ages of a hundred secrets take as many statements as that of one', async () => {
  await Promise.all(Array.from({ length: 100 }, (_, index) => create(`MANY_${index}`)));
  const count = async (glob: string): Promise<number> =>
    (await strongroom.statements(() => found({ key: { glob } }))).count;
  expect(await count('MANY_*')).toBe(await count('MANY_7'));
});

describe('a search by time', () => {
  const PAGE = `query ($input: SearchSecretsInput!, $first: Int, $after: String) { searchSecrets(input: $input, first: $first, after: $after) {
    isScanLimitReached nodes { secret { id secretKey updatedAt valueChangedAt } } pageInfo { hasNextPage endCursor } } }`;
  const FIELDS = { VALUE_CHANGED_AT: 'valueChangedAt', UPDATED_AT: 'updatedAt' } as const;
  type Field = keyof typeof FIELDS;
  interface Timed {
    readonly id: string;
    readonly secretKey: string;
    readonly updatedAt: string;
    readonly valueChangedAt: string;
  }
  const allOf = async (caller: Caller, input: object, first: number): Promise<Timed[]> => {
    const all: Timed[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: Awaited<ReturnType<Caller['data']>> = (await caller.data(PAGE, { input, first, after }))
        .searchSecrets;
      expect(page.isScanLimitReached).toBe(false);
      all.push(...page.nodes.map(({ secret }: { secret: Timed }) => secret));
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
    }
    return all;
  };

  let owner: Caller;
  let projects: readonly string[];
  beforeAll(async () => {
    ({ admin: owner } = await strongroom.seed.organization());
    projects = await addProjects(owner, 60);
    for (const projectId of projects.slice(0, 3)) {
      const place = { projectId, environment: 'dev', secretPath: '/' };
      const secrets = Array.from({ length: 8 }, (_, index) => ({ secretKey: `K_${index}`, secretValue: 'v' }));
      // Those of a batch are of one time.
      mustSucceed(await owner.post('/api/v4/secrets/batch', { ...place, secrets }));
      mustSucceed(await owner.patch('/api/v4/secrets/K_3', { ...place, secretValue: 'w' }));
      mustSucceed(await owner.patch('/api/v4/secrets/K_5', { ...place, secretComment: 'said' }));
    }
    mustSucceed(
      await owner.post('/api/v4/secrets/ALONE', { projectId: projects[59], environment: 'dev', secretValue: 'v' }),
    );
  });

  const sorted = (found: readonly Timed[], field: Field, direction: string): Timed[] => {
    const ascending = found.toSorted((one, other) => {
      const [a, b] = [one, other].map((it) => `${it[FIELDS[field]]} ${it.id}`) as [string, string];
      return a < b ? -1 : 1;
    });
    return direction === 'ASC' ? ascending : ascending.toReversed();
  };

  test.each(
    (['VALUE_CHANGED_AT', 'UPDATED_AT'] as const).flatMap((field) =>
      ['ASC', 'DESC'].flatMap((direction) => [3, 1_000].map((first) => [field, direction, first] as const)),
    ),
  )('%s %s has each secret once, by its ID where times are equal, in pages of %i', async (field, direction, first) => {
    const orderBy = { field, direction };
    // Of many projects, and of few.
    for (const [projectIds, count] of [
      [undefined, 24 + 1 + 5 * projects.length],
      [projects.slice(0, 3), 24 + 5 * 3],
    ] as const) {
      const found = await allOf(owner, { projectIds, orderBy }, first);
      expect(found.map(({ id }) => id)).toEqual(sorted(found, field, direction).map(({ id }) => id));
      expect([found.length, new Set(found.map(({ id }) => id)).size]).toEqual([count, count]);
    }
    const someKeys = { key: { glob: 'K_[' }, orderBy };
    expect(await allOf(owner, someKeys, first)).toEqual([]);
    const few = await allOf(owner, { key: { equals: 'K_3' }, orderBy }, first);
    expect(few.map(({ secretKey }) => secretKey)).toEqual(['K_3', 'K_3', 'K_3']);
  });

  test('has what is old by the time of the order and by the other, with all other filters and rights', async () => {
    const [first = ''] = projects;
    const inOrder = (field: Field) => ({ projectIds: [first], key: { startsWith: 'K_' }, orderBy: { field } });
    const [oldest] = await allOf(owner, inOrder('UPDATED_AT'), 1);
    const before = new Date(Date.parse(oldest?.updatedAt as string) + 1).toISOString();
    for (const field of ['VALUE_CHANGED_AT', 'UPDATED_AT'] as const) {
      const old = await allOf(owner, { ...inOrder(field), valueChangedBefore: before }, 2);
      expect(old.map(({ secretKey }) => secretKey).sort()).toEqual(['K_0', 'K_1', 'K_2', 'K_4', 'K_5', 'K_6', 'K_7']);
      const untouched = await allOf(owner, { ...inOrder(field), updatedBefore: before }, 2);
      expect(untouched.map(({ secretKey }) => secretKey)).not.toContain('K_5');
      expect(untouched).toHaveLength(6);
      expect(await allOf(owner, { ...inOrder(field), environments: ['prod'] }, 2)).toEqual([]);
      expect(await allOf(owner, { ...inOrder(field), secretPath: '/', tagSlugs: ['none'] }, 2)).toEqual([]);
    }
    const slug = 'some-keys';
    const permissions = [
      { subject: 'secrets', action: ['describeSecret'], conditions: { environment: 'dev', secretName: 'K_3' } },
    ];
    mustSucceed(await owner.post(`/api/v1/projects/${first}/roles`, { slug, name: slug, permissions }));
    const limited = await strongroom.seed.caller(owner, { project: first, projectRoles: [slug] });
    const seen = await allOf(limited, { orderBy: { field: 'VALUE_CHANGED_AT', direction: 'DESC' } }, 1);
    expect(seen.map(({ secretKey }) => secretKey)).toEqual(['K_3']);
  });

  test('takes one statement for however many, and a cursor of its own', async () => {
    const input = { orderBy: { field: 'VALUE_CHANGED_AT' } };
    const count = async (more: object) =>
      (await strongroom.statements(() => owner.data(PAGE, { input: { ...input, ...more }, first: 20 }))).count;
    await count({});
    expect(await count({})).toBe(await count({ projectIds: projects.slice(59) }));
    const { endCursor } = (await owner.data(PAGE, { input, first: 1 })).searchSecrets.pageInfo;
    for (const orderBy of [null, { field: 'UPDATED_AT' }, { field: 'VALUE_CHANGED_AT', direction: 'DESC' }])
      expect(await owner.graphql(PAGE, { input: { orderBy }, after: endCursor })).toBeError(422, 'VALIDATION_FAILED');
  });
});
