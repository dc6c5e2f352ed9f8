import { type Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { callerWithRules } from '../../kit/rules.js';
import { StatementRecorder } from '../../kit/statement-recorder.js';
import { Strongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { addProjects } from '../gateway/crowd.js';
import { Replay } from './replay.js';

/** In so many, entries of others are passed over one by one. */
const PROJECTS = 60;
/** More than a request compares with a pattern. */
const KEYS = 150_000;
const COMPARED = 100_000;
/** Through so many nodes of a plan an entry passes at most. */
const NODES = 7;
/** Of these begin with `KEY_00`. */
const RANGE = 10_000;
const FOLDERS = 300;
const IN_EACH = 300;
/** Of the index of keys, at the least. */
const ENTRIES_OF_PAGE = 50;

const SEARCH = `query ($input: SearchSecretsInput!, $after: String) {
  searchSecrets(input: $input, after: $after) {
    nodes { secret { secretKey } } isScanLimitReached pageInfo { endCursor hasNextPage }
  }
}`;

const INTO =
  'insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)';
const OF_FOLDER = `gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id`;
const BY = `'', 'identity', gen_random_uuid()`;

const MANY = `${INTO}
  select ${OF_FOLDER}, 'KEY_' || lpad(n::text, 6, '0') || $4, ${BY}
  from folder f join environment e on e.id = f.environment_id, generate_series(1, $2) n
  where f.project_id = $1 and e.slug = $3 and f.path = '/'`;

/** Folders with beginnings of their own: their keys come one folder after the other. */
const FOLDER = `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
  select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, n.name, '/' || n.name
  from folder f join environment e on e.id = f.environment_id
    cross join (select 'at-' || lpad(n::text, 3, '0') as name from generate_series(1, $2) n) n
  where f.project_id = $1 and e.slug = 'dev' and f.path = '/'`;
const APART = `${INTO}
  select ${OF_FOLDER}, upper(f.name) || '_' || lpad(n::text, 3, '0'), ${BY}
  from folder f, generate_series(1, $2) n where f.project_id = $1 and f.name like 'at-%'`;

/** What reads keys and secrets; the rest is about the rights of the caller, and the audit trail. */
const IS_SEARCH = /from secret /;

interface Found {
  /** Keys on each page. */
  readonly pages: readonly (readonly string[])[];
  readonly stops: readonly boolean[];
  /** Of the search itself. */
  readonly statements: number;
}

describe('a search for a pattern among 150,000 keys in one folder', () => {
  let databaseUrl: string;
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  let organizationId: string;
  let admin: Caller;
  let many: string;
  let few: string;
  let apart: string;

  beforeAll(async () => {
    databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    strongroom = await Strongroom.start({ DATABASE_URL: recorder.url });
    const seeded = await strongroom.seed.organization();
    ({ admin } = seeded);
    organizationId = seeded.organization.id;
    [many = '', few = '', apart = ''] = await addProjects(admin, PROJECTS);
    for (const [projectId, environment] of [
      [many, 'staging'],
      [few, 'dev'],
      [apart, 'dev'],
    ])
      mustSucceed(await admin.post('/api/v4/secrets/Z_LAST', { projectId, environment, secretValue: 'x' }));
    await withClient(databaseUrl, async (client) => {
      await client.query(MANY, [many, KEYS, 'dev', '']);
      await client.query(FOLDER, [apart, FOLDERS]);
      await client.query(APART, [apart, IN_EACH]);
    });
    replay = await Replay.create();
    await replay.fill(databaseUrl);
    await replay.sql('vacuum analyze');
  });

  afterAll(async () => {
    await replay?.close();
    await strongroom?.stop();
    await recorder?.stop();
  });

  /** All pages. */
  const find = async (caller: Caller, input: object): Promise<Found> => {
    const pages: string[][] = [];
    const stops: boolean[] = [];
    recorder.executed.length = 0;
    for (let after: string | null = null, more = true; more; ) {
      const { searchSecrets }: Awaited<ReturnType<Caller['data']>> = await caller.data(SEARCH, { input, after });
      pages.push(searchSecrets.nodes.map(({ secret }: { secret: { secretKey: string } }) => secret.secretKey));
      stops.push(searchSecrets.isScanLimitReached);
      ({ hasNextPage: more, endCursor: after } = searchSecrets.pageInfo);
    }
    return { pages, stops, statements: recorder.executed.filter(({ text }) => IS_SEARCH.test(text)).length };
  };

  /** Rows and pages of the database that the searches since then took, by statement. */
  const works = async (): Promise<number[]> => {
    const searches = recorder.executed.filter(({ text }) => IS_SEARCH.test(text));
    expect(searches).not.toEqual([]);
    return (await replay.measure(organizationId, searches)).map(({ read }) => read);
  };
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

  test.each([
    ['in all projects', () => ({}), { found: 3, requests: 3 }],
    ['in one project', () => ({ projectIds: [many] }), { found: 1, requests: 2 }],
    ['in some environments', () => ({ environments: ['dev', 'staging'] }), { found: 3, requests: 3 }],
  ])(
    'that only the last one matches, %s, compares 100,000 at once, and goes on',
    async (_, where, { found, requests }) => {
      const { pages, stops, statements } = await find(admin, { key: { glob: '*_LAST' }, ...where() });
      expect(pages.at(-1)).toEqual(Array.from({ length: found }, () => 'Z_LAST'));
      expect(pages.flat()).toHaveLength(found);
      expect(stops).toEqual(pages.map((_page, at) => at < pages.length - 1));
      expect(pages).toHaveLength(requests);
      expect(statements).toBeLessThanOrEqual(8 * pages.length);
      for (const read of await works()) expect(read).toBeLessThanOrEqual((NODES * COMPARED) / 3);
    },
  );

  test.each([
    ['in all projects', () => ({})],
    ['in one project', () => ({ projectIds: [many] })],
  ])('that every tenth one matches, %s, compares no more than a page needs', async (_, where) => {
    recorder.executed.length = 0;
    const { searchSecrets } = await admin.data(SEARCH, { input: { key: { glob: 'KEY*7' }, ...where() } });
    expect(searchSecrets.nodes).toHaveLength(100);
    expect(searchSecrets.isScanLimitReached).toBe(false);
    expect(sum(await works())).toBeLessThanOrEqual(15_000);
  });

  test('of a member of another project compares only the keys of that one', async () => {
    const caller = await strongroom.seed.caller(admin, { project: few, projectRoles: ['viewer'] });
    expect(await find(caller, { key: { glob: '*_LAST' } })).toMatchObject({ pages: [['Z_LAST']], stops: [false] });
    expect(sum(await works())).toBeLessThanOrEqual((KEYS + FOLDERS * IN_EACH) / ENTRIES_OF_PAGE);
  });

  test('in 300 folders whose keys come one folder after the other finds them in one request', async () => {
    const input = { projectIds: [apart], key: { glob: '*_LAST' } };
    expect(await find(admin, input)).toMatchObject({ pages: [['Z_LAST']], stops: [false] });
    expect(sum(await works())).toBeLessThanOrEqual(NODES * FOLDERS * IN_EACH);
  });

  test('of a caller whose rules hide them by their place compares and counts none of them', async () => {
    const conditions = { environment: 'staging' };
    const rule = { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions };
    const { caller } = await callerWithRules(strongroom, admin, many, rule);
    const input = { key: { glob: '*_LAST' } };
    expect(await find(caller, input)).toMatchObject({ pages: [['Z_LAST']], stops: [false] });
    expect(sum(await works())).toBeLessThanOrEqual(1_000);
    // With another project that is open.
    const member = `/api/v2/workspace/${few}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.post(member, { roles: [{ role: 'viewer' }] }));
    expect(await find(caller, input)).toMatchObject({ pages: [['Z_LAST', 'Z_LAST']], stops: [false] });
  });

  // At most, for all keys of the largest folder, a page, and all keys of a range.
  test.each([
    ['one row', 'reltuples = 1, relpages = 1', [NODES * KEYS, 15_000, NODES * RANGE]],
    ['no rows', 'reltuples = 0, relpages = 0', [NODES * KEYS, 15_000, NODES * RANGE]],
    ['ten million rows', 'reltuples = 1e7', [NODES * KEYS, 15_000, NODES * RANGE]],
    // As taken while all rows were being written: their pages are known, the rows are not. Each statement may read one project.
    ['three rows in many pages', 'reltuples = 3', Array.from({ length: 3 }, () => 3 * NODES * KEYS)],
  ])('compares no more with statistics of %s', async (_, claim, most) => {
    const costs: number[] = [];
    await replay.sql(`update pg_class set ${claim} where relkind = 'r' and relnamespace = 'public'::regnamespace`);
    for (const projectIds of [null, [many], [apart]])
      for (const glob of ['*_LAST', 'KEY_*7', 'KEY_00*X']) {
        recorder.executed.length = 0;
        await admin.data(SEARCH, { input: { key: { glob }, projectIds } });
        costs.push(sum(await works()));
      }
    await replay.sql('analyze');
    for (const [at, cost] of costs.entries()) expect(cost).toBeLessThanOrEqual(most[at % most.length] as number);
  });

  test('tells where it stopped by a cursor that names no key', async () => {
    const { searchSecrets } = await admin.data(SEARCH, { input: { key: { glob: '*_LAST' } } });
    const { endCursor, hasNextPage } = searchSecrets.pageInfo;
    expect(hasNextPage).toBe(true);
    expect(Buffer.from(endCursor, 'base64url').toString('latin1')).not.toContain('KEY_');
  });
});
