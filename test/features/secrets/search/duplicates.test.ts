import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const DUPLICATES = `query ($input: DuplicateValuesInput, $first: Int, $after: String) {
  duplicateValues(input: $input, first: $first, after: $after) {
    isScanLimitReached pageInfo { hasNextPage endCursor }
    nodes { count secrets { secretId projectId environmentSlug secretPath secretKey } }
  }
}`;

interface Group {
  readonly count: number;
  readonly secrets: readonly {
    readonly secretId: string;
    readonly environmentSlug: string;
    readonly secretKey: string;
  }[];
}

const ask = async (caller: Caller, input: object = {}, page: object = {}) =>
  (await caller.data(DUPLICATES, { input, ...page })).duplicateValues;
const groupsOf = async (caller: Caller, input: object = {}): Promise<string[]> =>
  ((await ask(caller, input)).nodes as Group[])
    .map(({ secrets }) => secrets.map(({ secretKey, environmentSlug }) => `${secretKey} ${environmentSlug}`).join(', '))
    .sort();

describe('equal values', () => {
  const strongroom = useSharedStrongroom();

  const put = async (admin: Caller, projectId: string, environment: string, values: Record<string, string>) => {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath: '/', secrets }));
  };

  /** Two projects: `red` is in both of them, `blue` twice in the first one, the empty value everywhere. */
  async function coloured() {
    const { admin } = await strongroom.seed.organization();
    const [one, two] = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
    await put(admin, one.id, 'dev', { A: 'red', B: 'blue', C: 'blue', E1: '', E2: '' });
    await put(admin, one.id, 'prod', { A: 'green', D: 'Red' });
    await put(admin, two.id, 'dev', { X: 'red', Y: 'green', Z: 'red ', E: '' });
    return { admin, one, two };
  }

  test('are found in all projects, to the byte, as groups with a count', async () => {
    const { admin, one } = await coloured();
    expect(await groupsOf(admin)).toEqual(['A dev, X dev', 'A prod, Y dev', 'B dev, C dev']);
    expect(await groupsOf(admin, { projectIds: [one.id] })).toEqual(['B dev, C dev']);
    expect(await groupsOf(admin, { environments: ['dev'] })).toEqual(['A dev, X dev', 'B dev, C dev']);
    expect(await groupsOf(admin, { environments: ['prod'] })).toEqual([]);
    const reply = await admin.graphql(DUPLICATES, {});
    const nodes: Group[] = reply.body.data.duplicateValues.nodes;
    for (const { count, secrets } of nodes) {
      expect(count).toBe(secrets.length);
    }
    for (const { digest } of await strongroom.sql<{ digest: Buffer }>(
      'select value_digest as digest from secret where project_id = $1 and value_digest is not null',
      [one.id],
    ))
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(reply.text).not.toContain(digest.toString(form));
  });

  test('are told only with the least number asked for, and follow changes', async () => {
    const { admin, one, two } = await coloured();
    expect(await groupsOf(admin, { minimum: 3 })).toEqual([]);
    mustSucceed(await admin.patch('/api/v4/secrets/Z', { projectId: two.id, environment: 'dev', secretValue: 'red' }));
    expect(await groupsOf(admin, { minimum: 3 })).toEqual(['A dev, X dev, Z dev']);
    mustSucceed(await admin.delete('/api/v4/secrets/A', { projectId: one.id, environment: 'dev' }));
    expect(await groupsOf(admin, { minimum: 3 })).toEqual([]);
    for (const minimum of [1, 1_001])
      expect(await admin.graphql(DUPLICATES, { input: { minimum } })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('are told only among what the caller may read', async () => {
    const { admin, one, two } = await coloured();
    const viewer = await strongroom.seed.caller(admin, { project: one.id, projectRoles: ['viewer'] });
    const powerless = await strongroom.seed.caller(admin, { project: two.id, projectRoles: ['no-access'] });
    expect(await groupsOf(viewer)).toEqual(['B dev, C dev']);
    expect(await groupsOf(powerless)).toEqual([]);
    const of = (id: string) => ({ input: { projectIds: [id] } });
    expect(await powerless.graphql(DUPLICATES, of(two.id))).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.graphql(DUPLICATES, of(two.id))).toBeError(404, 'PROJECT_NOT_FOUND');
    const { admin: other, one: theirs } = await coloured();
    expect(await groupsOf(other)).toHaveLength(3);
    expect(await other.graphql(DUPLICATES, of(one.id))).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await groupsOf(other, { projectIds: [theirs.id] })).toEqual(['B dev, C dev']);
  });

  test('page through in an order that tells nothing of the values, and stays', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (const environment of ['dev', 'prod']) await strongroom.seed.secrets(admin, project, environment, 25);
    const whole = (await ask(admin)).nodes.map(({ secrets }: Group) => secrets[0]?.secretId);
    expect(new Set(whole).size).toBe(25);
    const paged: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page: Awaited<ReturnType<typeof ask>> = await ask(admin, {}, { first: 4, after });
      expect(page.isScanLimitReached).toBe(false);
      paged.push(...page.nodes.map(({ secrets }: Group) => secrets[0]?.secretId));
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
    }
    expect(paged).toEqual(whole);
    const forged = Buffer.from(JSON.stringify(['zz'])).toString('base64url');
    expect(await admin.graphql(DUPLICATES, { after: forged })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('show the first thousand secrets of a group and count all, and end a page at 10,000 rows', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin.patient, project, 'dev', 1_200, (secret) => ({
      ...secret,
      secretValue: 'same',
    }));
    const [group] = (await ask(admin.patient)).nodes as Group[];
    expect([group?.count, group?.secrets.length]).toEqual([1_200, 1_000]);
    expect(group?.secrets[999]?.secretKey).toBe('KEY_00999');
    // Twelve values with as many secrets each: ten fill a page. Copies of a row stand in for fifteen thousand writes.
    await strongroom.sql(
      `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, value_digest, actor_kind, actor_id)
       select gen_random_uuid(), organization_id, project_id, environment_id, folder_id, key || '_' || n, value_sealed,
         sha256(n::text::bytea), actor_kind, actor_id
       from secret, generate_series(1, 11) as n where project_id = $1`,
      [project.id],
    );
    const first = await ask(admin.patient);
    expect(first.nodes).toHaveLength(10);
    expect([first.isScanLimitReached, first.pageInfo.hasNextPage]).toEqual([true, true]);
    const second = await ask(admin.patient, {}, { after: first.pageInfo.endCursor });
    expect(second.nodes).toHaveLength(2);
    expect([second.isScanLimitReached, second.pageInfo.hasNextPage]).toEqual([false, false]);
    expect(new Set([...first.nodes, ...second.nodes].map(({ secrets }: Group) => secrets[0]?.secretId)).size).toBe(12);
  });

  test('take the same few statements however many there are, none of them for values, and one audit row', async () => {
    const { admin, one } = await coloured();
    const { count } = await strongroom.statements(() => ask(admin));
    await strongroom.seed.secrets(admin, one, 'staging', 60, (secret) => ({ ...secret, secretValue: 'red' }));
    await strongroom.seed.projectOf(admin);
    const more = await strongroom.statements(() => admin.graphql(DUPLICATES, {}));
    expect(more.count).toBe(count);
    expect(count).toBeLessThanOrEqual(5);
    const rows = await strongroom.auditRows('request_id = $1', [more.result.headers['x-request-id']]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ action: 'secret:duplicates', project_id: null, facts: { groups: 3, count: 66 } });
  });
});
