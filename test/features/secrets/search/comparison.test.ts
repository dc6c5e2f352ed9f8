import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const COMPARE = `query ($input: CompareEnvironmentsInput!, $first: Int, $after: String) {
  compareEnvironments(input: $input, first: $first, after: $after) {
    isScanLimitReached pageInfo { hasNextPage endCursor }
    nodes { secretPath secretKey verdict sides { environmentSlug presence secretId valueGroup } }
  }
}`;

interface Row {
  readonly secretPath: string;
  readonly secretKey: string;
  readonly verdict: string;
  readonly sides: readonly {
    readonly environmentSlug: string;
    readonly presence: string;
    readonly valueGroup: number | null;
  }[];
}

/** `KEY /path VERDICT 1-2`: a dash where the secret is missing. */
const textOf = ({ secretPath, secretKey, verdict, sides }: Row): string =>
  `${secretKey} ${secretPath} ${verdict} ${sides.map(({ valueGroup }) => valueGroup ?? '-').join('')}`;

describe('environments side by side', () => {
  const strongroom = useSharedStrongroom();

  const compare = async (caller: Caller, input: object): Promise<string[]> =>
    (await caller.data(COMPARE, { input })).compareEnvironments.nodes.map(textOf);

  const put = async (
    admin: Caller,
    { projectId, environment, secretPath = '/' }: { projectId: string; environment: string; secretPath?: string },
    values: Record<string, string>,
  ) => {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath, secrets }));
  };

  async function three() {
    const { admin, project } = await strongroom.seed.project();
    const projectId = project.id;
    for (const [environment, path, name] of [
      ['dev', '/', 'app'],
      ['prod', '/', 'app'],
      ['prod', '/app', 'deep'],
      ['prod', '/', 'apps'],
    ])
      mustSucceed(await admin.post('/api/v2/folders', { projectId, environment, path, name }));
    await put(admin, { projectId, environment: 'dev' }, { SAME: 'x', OTHER: '1', HERE: 'v', NONE: '', HALF: '' });
    await put(admin, { projectId, environment: 'staging' }, { SAME: 'x', OTHER: '2', NONE: '', HALF: '0' });
    await put(admin, { projectId, environment: 'prod' }, { SAME: 'x', OTHER: '1', PROD: 'p', NONE: '', HALF: '' });
    await put(admin, { projectId, environment: 'dev', secretPath: '/app' }, { DEEP: 'a' });
    await put(admin, { projectId, environment: 'prod', secretPath: '/app' }, { DEEP: 'b' });
    await put(admin, { projectId, environment: 'prod', secretPath: '/app/deep' }, { LAST: 'z' });
    await put(admin, { projectId, environment: 'prod', secretPath: '/apps' }, { APART: 'z' });
    const of = (...environments: string[]) => ({ projectId, environments });
    return { admin, project, of };
  }

  test('tell what is missing and what is different, and with onlyDifferences false what is equal', async () => {
    const { admin, of } = await three();
    expect(await compare(admin, of('dev', 'staging', 'prod'))).toEqual([
      'HALF / DIFFERENT 121',
      'HERE / MISSING 1--',
      'OTHER / DIFFERENT 121',
      'PROD / MISSING --1',
    ]);
    expect(await compare(admin, { ...of('prod', 'dev'), onlyDifferences: false })).toEqual([
      'HALF / EQUAL 11',
      'HERE / MISSING -1',
      'NONE / EQUAL 11',
      'OTHER / EQUAL 11',
      'PROD / MISSING 1-',
      'SAME / EQUAL 11',
    ]);
    const { compareEnvironments } = await admin.data(COMPARE, { input: of('dev', 'prod') });
    expect(compareEnvironments.nodes[0]).toEqual({
      secretPath: '/',
      secretKey: 'HERE',
      verdict: 'MISSING',
      sides: [
        { environmentSlug: 'dev', presence: 'PRESENT', secretId: expect.any(String), valueGroup: 1 },
        { environmentSlug: 'prod', presence: 'MISSING', secretId: null, valueGroup: null },
      ],
    });
  });

  test('compare one folder, or all below it; a folder that only some have is missing in the others', async () => {
    const { admin, of } = await three();
    expect(await compare(admin, { ...of('dev', 'prod'), secretPath: '/app' })).toEqual(['DEEP /app DIFFERENT 12']);
    expect(await compare(admin, { ...of('dev', 'prod'), secretPath: '/app/', recursive: true })).toEqual([
      'DEEP /app DIFFERENT 12',
      'LAST /app/deep MISSING -1',
    ]);
    expect(await compare(admin, { ...of('dev', 'staging'), secretPath: '/app' })).toEqual(['DEEP /app MISSING 1-']);
    expect((await compare(admin, { ...of('dev', 'prod'), recursive: true })).slice(2)).toEqual([
      'DEEP /app DIFFERENT 12',
      'LAST /app/deep MISSING -1',
      'APART /apps MISSING -1',
    ]);
  });

  test('do not call values equal that were written before there were digests', async () => {
    const { admin, project, of } = await three();
    await strongroom.sql(`update secret set value_digest = null where project_id = $1 and key = 'SAME'`, [project.id]);
    expect((await compare(admin, of('dev', 'prod'))).at(-1)).toBe('SAME / UNKNOWN --');
    expect((await compare(admin, { ...of('dev', 'prod'), onlyDifferences: false }))[2]).toBe('NONE / EQUAL 11');
  });

  test('page through, refuse what is no question, and are hidden from strangers', async () => {
    const { admin, project, of } = await three();
    const input = { ...of('dev', 'prod'), recursive: true, onlyDifferences: false };
    const paged: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const { compareEnvironments } = await admin.data(COMPARE, { input, first: 2, after });
      paged.push(...compareEnvironments.nodes.map(textOf));
      ({ hasNextPage: more, endCursor: after } = compareEnvironments.pageInfo);
    }
    expect(paged).toEqual(await compare(admin, input));
    const ask = (wrong: object) => admin.graphql(COMPARE, { input: wrong });
    for (const environments of [['dev'], ['dev', 'dev'], ['a', 'b', 'c', 'd', 'e', 'f']])
      expect(await ask(of(...environments))).toBeError(422, 'VALIDATION_FAILED');
    expect(await ask(of('dev', 'none'))).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await ask({ ...of('dev', 'prod'), secretPath: '/none' })).toBeError(404, 'FOLDER_NOT_FOUND');
    const powerless = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const stranger = await strongroom.seed.caller(admin);
    expect(await powerless.graphql(COMPARE, { input })).toBeError(403, 'PERMISSION_DENIED');
    expect(await stranger.graphql(COMPARE, { input })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('take one statement for the rows however many there are, and one audit row', async () => {
    const { admin, project, of } = await three();
    const ask = () => admin.graphql(COMPARE, { input: of('dev', 'staging', 'prod'), first: 1_000 });
    const { count } = await strongroom.statements(ask);
    await strongroom.seed.secrets(admin, project, 'staging', 500);
    const more = await strongroom.statements(ask);
    expect(more.result.body.data.compareEnvironments.nodes).toHaveLength(504);
    expect(more.count).toBe(count);
    expect(count).toBeLessThanOrEqual(5);
    const rows = await strongroom.auditRows('request_id = $1', [more.result.headers['x-request-id']]);
    expect(rows.map(({ action, project_id, facts }) => [action, project_id, facts])).toEqual([
      ['secret:compare', project.id, { environments: 3, count: 504 }],
    ]);
  });
});
