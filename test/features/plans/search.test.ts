import type { Caller } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { callerWithRules } from '../../kit/rules.js';
import { StatementRecorder } from '../../kit/statement-recorder.js';
import { Strongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { addProjects } from '../gateway/crowd.js';
import { Replay } from './replay.js';

const PROJECTS = 100;
const FOLDERS = 100;
const PAGE = 100;

/** A key that is in a folder of each of a few projects, and one that is in every folder of all. */
const KEYS = {
  FEW_URL: { projects: 5, folders: 25 },
  MANY_URL: { projects: PROJECTS, folders: FOLDERS },
} as const;

const SEARCH = `query ($key: SecretKeyFilterInput!, $first: Int, $after: String) {
  searchSecrets(input: { key: $key }, first: $first, after: $after) {
    nodes { secret { secretKey } } pageInfo { endCursor }
  }
}`;

/** Keys of which there is one, by filters of each kind. */
const FILTERS: Readonly<Record<string, (key: keyof typeof KEYS) => object>> = {
  'a key': (key) => ({ equals: key }),
  'a prefix': (key) => ({ startsWith: key.slice(0, 3) }),
  'a pattern': (key) => ({ glob: `${key.slice(0, 2)}*_?RL` }),
};

/** Requests that read the rights of the caller in all of its projects. */
const WITH_RIGHTS = {
  'a search': '{ searchSecrets(first: 1, input: { key: { equals: "NONE" } }) { nodes { __typename } } }',
  'a list of projects': '{ projects(first: 5) { nodes { id } } }',
  'a list of access tokens': '{ accessTokens(first: 1) { nodes { id } } }',
};

const FOLDER = `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
  select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, n.name, '/' || n.name
  from folder f join environment e on e.id = f.environment_id
    cross join (select 'at-' || lpad(n::text, 6, '0') as name from generate_series(1, $2) n) n
  where f.project_id = any($1::uuid[]) and e.slug = 'dev' and f.path = '/'`;

const SECRET = `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)
  select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, $2, '', 'identity', gen_random_uuid()
  from (select *, rank() over (partition by project_id order by path) as place from folder
    where project_id = any($1::uuid[]) and path <> '/') f where f.place <= $3`;

/** Secrets of the key that is in every folder, made rare by what the filters look at. */
const RARE = [
  `with rare as (
     insert into tag (id, organization_id, project_id, slug, color)
     select gen_random_uuid(), organization_id, id, 'rare', '#fff' from project where id = any(($1::uuid[])[10:11]) returning id, project_id
   )
   insert into secret_tag (secret_id, tag_id)
   select s.id, rare.id from rare join secret s on s.project_id = rare.project_id join folder f on f.id = s.folder_id
   where s.key = 'MANY_URL' and f.path = '/at-000050'`,
  `with rare as (
     insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
     select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, 'rare', '/rare'
     from folder f join environment e on e.id = f.environment_id
     where f.project_id = any(($1::uuid[])[20:21]) and e.slug = 'dev' and f.path = '/' returning *
   )
   insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)
   select gen_random_uuid(), organization_id, project_id, environment_id, id, 'MANY_URL', '', 'identity', gen_random_uuid() from rare`,
  `with environment as (
     insert into environment (id, organization_id, project_id, name, slug, position)
     select gen_random_uuid(), organization_id, id, 'rare', 'rare', 9 from project where id = any(($1::uuid[])[30:31]) returning *
   ), rare as (
     insert into folder (id, organization_id, project_id, environment_id, name, path)
     select gen_random_uuid(), organization_id, project_id, id, 'root', '/' from environment returning *
   )
   insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)
   select gen_random_uuid(), organization_id, project_id, environment_id, id, 'MANY_URL', '', 'identity', gen_random_uuid() from rare`,
  `update secret s set metadata = '[{"key":"rare","value":"yes"}]'
   from folder f where f.id = s.folder_id and s.project_id = any(($1::uuid[])[40:41]) and s.key = 'MANY_URL' and f.path = '/at-000050'`,
];

/** Filters that two of 10,129 secrets match, and whether an index finds these. */
const RARE_FILTERS: readonly (readonly [name: string, input: object, isFound: boolean])[] = [
  ['a tag', { tagSlugs: ['rare'] }, true],
  ['a path', { secretPath: '/rare' }, true],
  ['a beginning of a path', { secretPath: '/ra*' }, true],
  ['an environment', { environments: ['rare'] }, true],
  ['an end of a path', { secretPath: '*/rare' }, false],
  ['metadata', { metadata: [{ key: 'rare', value: 'yes' }] }, false],
];

const FILTERED = `query ($input: SearchSecretsInput!, $after: String) {
  searchSecrets(input: $input, after: $after) {
    nodes { projectId secret { id secretKey } } isScanLimitReached pageInfo { endCursor hasNextPage }
  }
}`;

/** The statements that look rare tags and folders up, and count them. */
const LOOKUPS = /from unnest\(\S+ p \(id\)\s+cross join lateral \(select t\.id|f\.path >= /;

interface Page {
  readonly nodes: readonly { readonly secret: { readonly id: string } }[];
  readonly isScanLimitReached: boolean;
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

describe('a search over 100 projects', () => {
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  let organizationId: string;
  let admin: Caller;
  let projectIds: readonly string[];

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    strongroom = await Strongroom.start({
      DATABASE_URL: recorder.url,
      GRAPHQL_LIMITS: 'tokens=4000,cost=100000,objects=100000',
    });
    const seeded = await strongroom.seed.organization();
    ({ admin } = seeded);
    organizationId = seeded.organization.id;
    projectIds = await addProjects(admin, PROJECTS);
    await withClient(databaseUrl, async (client) => {
      await client.query(FOLDER, [projectIds, FOLDERS]);
      for (const [key, { projects, folders }] of Object.entries(KEYS))
        await client.query(SECRET, [projectIds.slice(0, projects), key, folders]);
      for (const text of RARE) await client.query(text, [projectIds]);
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

  const search = async (key: object, page: object) => (await admin.data(SEARCH, { key, ...page })).searchSecrets;

  /** Rows and pages of the database that it takes to find a page. */
  const costOf = async (key: object, after: string | null): Promise<number> => {
    recorder.executed.length = 0;
    expect((await search(key, { first: PAGE, after })).nodes).toHaveLength(PAGE);
    const works = await replay.measure(
      organizationId,
      recorder.executed.filter(({ text }) => text.includes('"projectSlug"')),
    );
    expect(works).toHaveLength(1);
    return works.reduce((sum, { read }) => sum + read, 0);
  };

  /** Cursor of a result after which there are few. */
  const lateCursor = async (key: object): Promise<string> => {
    let after: string | null = null;
    for (let seen = 0; seen < PROJECTS * FOLDERS - 1_000; seen += 1_000)
      after = (await search(key, { first: 1_000, after })).pageInfo.endCursor;
    return after as string;
  };

  test.each(Object.entries(FILTERS))(
    'for %s takes as much of the database when 10,000 secrets match as when 125 do, at the top and far below',
    async (_, filterOf) => {
      const few = await costOf(filterOf('FEW_URL'), null);
      expect(few).toBeGreaterThan(PAGE);
      const many = filterOf('MANY_URL');
      expect(await costOf(many, null)).toBeLessThanOrEqual(2 * few);
      expect(await costOf(many, await lateCursor(many))).toBeLessThanOrEqual(2 * few);
    },
  );

  test.each(
    ['VALUE_CHANGED_AT', 'UPDATED_AT'].flatMap((field) => ['ASC', 'DESC'].map((direction) => ({ field, direction }))),
  )(
    'in the order $field $direction reads a few rows of each project, at the top, far below, and of what is old',
    async (orderBy) => {
      const read = async (more: object, after: string | null, projects = projectIds): Promise<[number, string]> => {
        recorder.executed.length = 0;
        const input = { projectIds: projects, orderBy, ...more };
        const { nodes, pageInfo } = (await admin.data(FILTERED, { input, after })).searchSecrets;
        expect(nodes).toHaveLength(PAGE);
        const works = await replay.measure(
          organizationId,
          recorder.executed.filter(({ text }) => text.includes('"isMatch"')),
        );
        expect(works).toHaveLength(1);
        return [works[0]?.read ?? 0, pageInfo.endCursor];
      };
      const filter = orderBy.field === 'UPDATED_AT' ? 'updatedBefore' : 'valueChangedBefore';
      const old = { [filter]: '2999-01-01T00:00:00Z' };
      let after: string | null = null;
      for (let page = 0; page < 20; page += 1) {
        const [cost, next] = await read({}, after);
        // Most of it is for names of projects, of which the table is so small that it is read as a whole; a page of each would be twice that.
        expect(cost).toBeLessThanOrEqual(200 * PROJECTS);
        after = next;
      }
      expect((await read(old, null))[0]).toBeLessThanOrEqual(200 * PROJECTS);
      expect((await read({}, null, projectIds.slice(0, 3)))[0]).toBeLessThanOrEqual(200 * PAGE);
    },
  );

  test.each(RARE_FILTERS)(
    'for %s that two secrets have finds them by their index, or looks at no more than 10,000 at once',
    async (_, input, isFound) => {
      const found: string[] = [];
      const stops: boolean[] = [];
      for (let after: string | null = null, more = true; more; ) {
        recorder.executed.length = 0;
        const page: Page = (await admin.data(FILTERED, { input, after })).searchSecrets;
        found.push(...page.nodes.map(({ secret }) => secret.id));
        stops.push(page.isScanLimitReached);
        const ofRights = /"membershipId"|access_token|audit_record/;
        const works = await replay.measure(
          organizationId,
          recorder.executed.filter(({ text }) => !ofRights.test(text)),
        );
        const read = works.reduce((sum, work) => sum + work.read, 0);
        expect(read).toBeLessThanOrEqual(isFound ? 12 * PROJECTS : 25 * 10_000);
        ({ hasNextPage: more, endCursor: after } = page.pageInfo);
      }
      expect(new Set(found).size).toBe(2);
      expect(found).toHaveLength(2);
      expect(stops).toEqual(isFound ? [false] : [true, false]);
    },
  );

  test('for a beginning of a path that no folder has reads none of those that come after it', async () => {
    recorder.executed.length = 0;
    expect((await admin.data(FILTERED, { input: { secretPath: '/aa*' } })).searchSecrets.nodes).toEqual([]);
    const works = await replay.measure(
      organizationId,
      recorder.executed.filter(({ text }) => LOOKUPS.test(text)),
    );
    expect(works).toHaveLength(1);
    expect(works[0]?.read).toBeLessThanOrEqual(12 * PROJECTS);
  });

  test('of a caller who may not see all counts nothing that is hidden, however rare it is', async () => {
    const conditions = { environment: 'dev' };
    const rule = { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions };
    const { caller } = await callerWithRules(strongroom, admin, projectIds[0] as string, rule);
    for (const asked of [admin, caller]) {
      recorder.executed.length = 0;
      for (const [, input] of RARE_FILTERS) await asked.data(FILTERED, { input });
      const lookups = recorder.executed.filter(({ text }) => LOOKUPS.test(text));
      expect(lookups.length > 0).toBe(asked === admin);
    }
  });

  test.each(Object.entries(WITH_RIGHTS))(
    'as %s, reads no more than 18 rows or pages of the database for each project of the caller',
    async (_, document) => {
      recorder.executed.length = 0;
      await admin.data(document);
      const works = await replay.measure(
        organizationId,
        recorder.executed.filter(({ text }) => text.includes('"membershipId"')),
      );
      expect(works).toHaveLength(1);
      expect(works[0]?.read).toBeLessThanOrEqual(18 * PROJECTS);
    },
  );

  test('as a count of projects, reads the memberships of the caller, and none of its projects', async () => {
    const countOf = async (): Promise<number> =>
      (await admin.data('{ projects(first: 1) { totalCount } }')).projects.totalCount;
    expect(await countOf()).toBe(PROJECTS);
    recorder.executed.length = 0;
    await countOf();
    const works = await replay.measure(
      organizationId,
      recorder.executed.filter(({ text }) => /\bcount\(/.test(text) && text.includes('project_member_now')),
    );
    expect(works).toHaveLength(1);
    expect(works[0]?.read).toBeLessThanOrEqual(7 * PROJECTS);
  });
});
