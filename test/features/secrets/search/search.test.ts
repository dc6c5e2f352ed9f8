import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../../kit/caller.js';
import type { SeededProject } from '../../../kit/seed.js';
import { LENIENT, type OtherNode, useSharedStrongroom } from '../../../kit/strongroom.js';

const SEARCH = `query ($input: SearchSecretsInput!, $first: Int, $after: String) {
  searchSecrets(input: $input, first: $first, after: $after) {
    isScanLimitReached readIssues { secretId reason } pageInfo { hasNextPage endCursor }
    nodes { project { id name slug } secret { id secretKey environmentSlug secretPath secretValue isSecretValueHidden secretComment tags { slug } } }
  }
}`;

interface Hit {
  readonly project: { readonly id: string; readonly slug: string };
  readonly secret: { readonly secretKey: string; readonly environmentSlug: string; readonly secretPath: string };
}

const search = async (caller: Caller, input: object, page: object = {}) =>
  (await caller.data(SEARCH, { input, ...page })).searchSecrets;

/** `KEY project environment path` of each hit. */
const placesOf = ({ nodes }: { nodes: Hit[] }): string[] =>
  nodes.map(
    ({ project, secret }) => `${secret.secretKey} ${project.slug} ${secret.environmentSlug} ${secret.secretPath}`,
  );
const keysOf = ({ nodes }: { nodes: Hit[] }): string[] => nodes.map(({ secret }) => secret.secretKey);

const put = async (
  caller: Caller,
  { id: projectId }: Pick<SeededProject, 'id'>,
  environment: string,
  secrets: readonly object[],
  secretPath = '/',
): Promise<void> => {
  mustSucceed(await caller.post('/api/v4/secrets/batch', { projectId, environment, secretPath, secrets }));
};
const named = (...keys: string[]) =>
  keys.map((secretKey) => ({ secretKey, secretValue: `value of ${secretKey}`, secretComment: `about ${secretKey}` }));

describe('searching secrets', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let node: OtherNode;
  beforeAll(async () => {
    node = await strongroom.otherNode();
  });

  /** Two projects of one organization, `a-…` before `b-…`. */
  async function twoProjects() {
    const { admin } = await strongroom.seed.organization();
    const slug = (letter: string) => ({ slug: `${letter}-${randomUUID().slice(0, 8)}` });
    const [one, two] = [
      await strongroom.seed.projectOf(admin, slug('a')),
      await strongroom.seed.projectOf(admin, slug('b')),
    ];
    return { admin, one, two };
  }

  test('finds keys exactly, by prefix and by glob in all projects, by key, project, environment, path', async () => {
    const { admin, one, two } = await twoProjects();
    mustSucceed(await admin.post('/api/v2/folders', { projectId: two.id, environment: 'dev', name: 'app' }));
    await put(admin, two, 'prod', named('DB_HOST', 'DB_PASSWORD'));
    await put(admin, two, 'dev', named('DB_HOST'), '/app');
    await put(admin, two, 'dev', named('DB_HOST', 'db_host', 'XDB_HOST'));
    await put(admin, one, 'prod', named('DB_HOST', 'DBXHOST', 'API_KEY'));
    const hosts = [
      `DB_HOST ${one.slug} prod /`,
      `DB_HOST ${two.slug} dev /`,
      `DB_HOST ${two.slug} dev /app`,
      `DB_HOST ${two.slug} prod /`,
    ];
    expect(placesOf(await search(admin, { key: { equals: 'DB_HOST' } }))).toEqual(hosts);
    expect(placesOf(await search(admin, { key: { startsWith: 'DB_' } }))).toEqual([
      ...hosts,
      `DB_PASSWORD ${two.slug} prod /`,
    ]);
    expect(keysOf(await search(admin, { key: { glob: '*DB?HOST' }, projectIds: [one.id] }))).toEqual([
      'DBXHOST',
      'DB_HOST',
    ]);
    expect(keysOf(await search(admin, { key: { glob: '*PASS*' } }))).toEqual(['DB_PASSWORD']);
    expect(keysOf(await search(admin, { key: { glob: 'API_KEY' } }))).toEqual(['API_KEY']);
    expect((await search(admin, {})).nodes).toHaveLength(9);
    const [hit] = (await search(admin, { key: { equals: 'API_KEY' } })).nodes;
    expect(hit).toMatchObject({
      project: { id: one.id, name: one.name, slug: one.slug },
      secret: { secretKey: 'API_KEY', secretValue: null, isSecretValueHidden: true, secretComment: 'about API_KEY' },
    });
  });

  test('takes every character but * and ? for itself', async () => {
    const { admin, project } = await strongroom.seed.project();
    await put(admin, project, 'dev', named('a%b', 'a_b', 'a\\b', 'axb', 'a*b', 'a?b', 'aäb', 'a\u{1f511}b'));
    const found = async (key: object) => keysOf(await search(admin, { key }));
    expect(await found({ glob: 'a%*' })).toEqual(['a%b']);
    expect(await found({ glob: '?_b' })).toEqual(['a_b']);
    expect(await found({ glob: '*\\b' })).toEqual(['a\\b']);
    expect(await found({ startsWith: 'a_' })).toEqual(['a_b']);
    expect(await found({ equals: 'a*b' })).toEqual(['a*b']);
    expect(await found({ startsWith: 'a*' })).toEqual(['a*b']);
    expect(await found({ glob: 'a?b' })).toHaveLength(8);
    expect(await found({ glob: '????' })).toEqual([]);
  });

  test('narrows by tags, metadata, environments, paths and projects; all must hold', async () => {
    const { admin, one, two } = await twoProjects();
    for (const { id: projectId } of [one, two]) {
      const { tag } = mustSucceed(
        await admin.post(`/api/v1/projects/${projectId}/tags`, { slug: 'db', color: '#aa0000' }),
      ).body;
      for (const name of ['app', 'apps'])
        mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: 'prod', path: '/', name }));
      mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: 'prod', path: '/app', name: 'deep' }));
      const secretMetadata = [{ key: 'team', value: 'core' }];
      await put(admin, { id: projectId }, 'prod', [{ secretKey: 'TAGGED', tagIds: [tag.id] }], '/app');
      await put(
        admin,
        { id: projectId },
        'prod',
        [{ secretKey: 'BOTH', tagIds: [tag.id], secretMetadata }],
        '/app/deep',
      );
      await put(admin, { id: projectId }, 'prod', [{ secretKey: 'PLAIN', secretMetadata }], '/apps');
      await put(admin, { id: projectId }, 'dev', [{ secretKey: 'TAGGED', tagIds: [tag.id] }]);
    }
    const found = async (input: object) => keysOf(await search(admin, { projectIds: [two.id], ...input }));
    expect(placesOf(await search(admin, { tagSlugs: ['db', 'other'], environments: ['prod'] }))).toEqual([
      `BOTH ${one.slug} prod /app/deep`,
      `BOTH ${two.slug} prod /app/deep`,
      `TAGGED ${one.slug} prod /app`,
      `TAGGED ${two.slug} prod /app`,
    ]);
    expect(await found({ metadata: [{ key: 'team', value: 'core' }] })).toEqual(['BOTH', 'PLAIN']);
    expect(await found({ metadata: [{ key: 'team', value: 'core' }], tagSlugs: ['db'] })).toEqual(['BOTH']);
    expect(await found({ secretPath: '/app' })).toEqual(['TAGGED']);
    expect(await found({ secretPath: '/app/*' })).toEqual(['BOTH']);
    expect(await found({ secretPath: '/app*' })).toEqual(['BOTH', 'PLAIN', 'TAGGED']);
    expect(await found({ environments: ['dev', 'none'] })).toEqual(['TAGGED']);
    expect(await found({ environments: ['none'] })).toEqual([]);
  });

  test('sees only projects that the caller is a member of and may read in', async () => {
    const { admin, one, two } = await twoProjects();
    for (const project of [one, two]) await put(admin, project, 'dev', named('KEY'));
    const { admin: stranger, project: foreign } = await strongroom.seed.project();
    await put(stranger, foreign, 'dev', named('KEY'));
    const viewer = await strongroom.seed.caller(admin, { project: one.id, projectRoles: ['viewer'] });
    const powerless = await strongroom.seed.caller(admin, { project: two.id, projectRoles: ['no-access'] });
    const nobody = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const input = { key: { equals: 'KEY' } };
    expect(placesOf(await search(admin, input))).toEqual([`KEY ${one.slug} dev /`, `KEY ${two.slug} dev /`]);
    expect(placesOf(await search(viewer, input))).toEqual([`KEY ${one.slug} dev /`]);
    expect(placesOf(await search(powerless, input))).toEqual([]);
    expect(placesOf(await search(nobody, input))).toEqual([]);
    const of = (...projectIds: string[]) => ({ input: { ...input, projectIds } });
    expect(await powerless.graphql(SEARCH, of(two.id))).toBeError(403, 'PERMISSION_DENIED');
    for (const hidden of [two.id, foreign.id, randomUUID(), 'no-uuid'])
      expect(await viewer.graphql(SEARCH, of(one.id, hidden))).toBeError(404, 'PROJECT_NOT_FOUND');
    const certificates = await strongroom.seed.projectOf(admin, { type: 'cert-manager' });
    expect(await admin.graphql(SEARCH, of(certificates.id))).toBeError(422, 'VALIDATION_FAILED');
  });

  test('opens values only when asked to, and names those that do not open', async () => {
    const { admin, one, two } = await twoProjects();
    for (const project of [one, two]) await put(admin, project, 'dev', named('KEY', 'OTHER'));
    const open = async () => search(admin, { key: { equals: 'KEY' }, viewSecretValue: true });
    expect((await open()).nodes.map(({ secret }: { secret: { secretValue: string } }) => secret.secretValue)).toEqual([
      'value of KEY',
      'value of KEY',
    ]);
    await strongroom.sql(
      `update secret s set value_sealed = o.value_sealed from secret o
       where s.project_id = $1 and o.project_id = $1 and s.key = 'KEY' and o.key = 'OTHER'`,
      [two.id],
    );
    const { nodes, readIssues } = await open();
    expect(nodes.map(({ secret }: { secret: { secretValue: string } }) => secret.secretValue)).toEqual([
      'value of KEY',
      null,
    ]);
    expect(readIssues).toEqual([{ secretId: nodes[1].secret.id, reason: 'VALUE_DOES_NOT_OPEN' }]);
  });

  test('pages through the order without repeating or leaving out, and never answers more than 1,000', async () => {
    const { admin, one, two } = await twoProjects();
    for (const project of [one, two])
      for (const environment of ['dev', 'prod']) await strongroom.seed.secrets(admin, project, environment, 30);
    const whole = placesOf(await search(admin, {}, { first: 1_000 }));
    expect(whole).toHaveLength(120);
    expect(whole.slice(0, 4)).toEqual(
      [one, two].flatMap(({ slug }) => ['dev', 'prod'].map((environment) => `KEY_00000 ${slug} ${environment} /`)),
    );
    const paged: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page: Awaited<ReturnType<typeof search>> = await search(admin, {}, { first: 7, after });
      expect(page.isScanLimitReached).toBe(false);
      paged.push(...placesOf(page));
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
    }
    expect(paged).toEqual(whole);
    expect((await search(admin, {})).nodes).toHaveLength(100);
    for (const page of [{ first: 0 }, { first: 1_001 }, { after: 'nonsense' }])
      expect(await admin.graphql(SEARCH, { input: {}, ...page })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('refuses what is no question, naming the place', async () => {
    const { admin } = await strongroom.seed.project();
    const twice = { key: { equals: 'A', glob: 'B' } };
    expect(await admin.graphql(SEARCH, { input: twice })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.graphql(SEARCH, { input: { key: {} } })).toBeError(422, 'VALIDATION_FAILED');
    const literal = await admin.graphql(
      '{ searchSecrets(input: { key: { equals: "A", glob: "B" } }) { isScanLimitReached } }',
    );
    expect(literal).toBeError(400, 'GRAPHQL_INVALID');
    const violations = await admin.graphql(SEARCH, {
      input: { key: { glob: '' }, tagSlugs: ['No Slug'], projectIds: [], secretPath: '', environments: [''] },
    });
    expect(violations).toBeError(422, 'VALIDATION_FAILED');
    const details = violations.body.errors[0].extensions.details as { path: string }[];
    expect(details.map(({ path }) => path).sort()).toEqual([
      'input.environments[0]',
      'input.key.glob',
      'input.projectIds',
      'input.secretPath',
      'input.tagSlugs[0]',
    ]);
  });

  test('takes the same statements however many projects there are, and leaves one audit row that spans them', async () => {
    const { admin, one, two } = await twoProjects();
    for (const project of [one, two]) await put(admin, project, 'dev', named('KEY'));
    const ask = () => admin.graphql(SEARCH, { input: { key: { glob: 'K*' }, viewSecretValue: true } });
    await ask();
    const before = await strongroom.statements(ask);
    for (let made = 0; made < 8; made += 1) {
      const project = await strongroom.seed.projectOf(admin);
      await put(admin, project, 'prod', named('KEY', 'KEY_2'));
    }
    const { result, count } = await strongroom.statements(ask);
    expect(result.body.data.searchSecrets.nodes).toHaveLength(18);
    expect(count).toBe(before.count);
    expect(count).toBeLessThanOrEqual(6);
    const rows = await strongroom.auditRows('request_id = $1', [result.headers['x-request-id']]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      action: 'secret:search',
      project_id: null,
      facts: { count: 18, projects: 10, viewedValues: true, unreadable: 0 },
    });
    // A node that has none of the keys at hand gets all of them at once.
    const cold = await admin.at(node.url).graphql(SEARCH, { input: { viewSecretValue: true } });
    const values = cold.body.data.searchSecrets.nodes.map(
      ({ secret }: { secret: { secretValue: string } }) => secret.secretValue,
    );
    expect(new Set(values)).toEqual(new Set(['value of KEY', 'value of KEY_2']));
  });
});
