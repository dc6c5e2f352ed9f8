import { type Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { StatementRecorder } from '../../kit/statement-recorder.js';
import { Strongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { seedSub } from '../../kit/world.js';
import { Replay, type Work } from './replay.js';

const SIZES = { few: 100, many: 10_000 } as const;
const PAGE = 100;

type Size = keyof typeof SIZES;
// biome-ignore lint/suspicious/noExplicitAny: the type of a response is known to the schema, not to TypeScript
type Data = Record<string, any>;

/**
 * Where pages are: a project with as many tags, and in a project that all share a folder with as many secrets and folders; with as many
 * users and as many machine identities, which come after them by name, in the project, in a group and in a sub-organization.
 */
interface Place {
  readonly subOrganizationId: string;
  readonly projectId: string;
  readonly groupId: string;
  readonly shared: string;
  readonly path: string;
}

interface Asked {
  readonly first: number;
  readonly after: string | null;
}

interface Shown {
  readonly count: number;
  /** Cursor of the last row; absent in REST when it is the last of all. */
  readonly end: string | undefined;
}

type Ask = (admin: Caller, place: Place, asked: Asked) => Promise<Shown>;

/** A list of REST: `{ secrets, nextCursor }`. */
const rest =
  (name: string, pathOf: (place: Place) => string): Ask =>
  async (admin, place, { first, after }) => {
    const cursor = after === null ? '' : `&cursor=${after}`;
    const { body } = mustSucceed(await admin.get(`${pathOf(place)}limit=${first}${cursor}`));
    return { count: body[name].length, end: body.nextCursor };
  };

const VARIABLES = {
  subOrganizationId: 'ID!',
  projectId: 'ID!',
  groupId: 'ID!',
  shared: 'ID!',
  path: 'String!',
} as const;

/** A connection in a document, in the place of `@page`. @param field with its arguments but those of the page */
const graphql =
  (field: string, within = '@page'): Ask =>
  async (admin, place, asked) => {
    const called = field.endsWith(')') ? `${field.slice(0, -1)}, ` : `${field}(`;
    const page = `page: ${called}first: $first, after: $after) { nodes { id } pageInfo { endCursor } }`;
    const text = within.replace('@page', page);
    const used = Object.entries(VARIABLES).filter(([name]) => text.includes(`$${name}`));
    const declared = used.map(([name, type]) => `$${name}: ${type}`).join(' ');
    const data = await admin.data(`query (${declared} $first: Int $after: String) { ${text} }`, {
      ...Object.fromEntries(used.map(([name]) => [name, place[name as keyof Place]])),
      ...asked,
    });
    const { nodes, pageInfo } = pageIn(data);
    return { count: nodes.length, end: pageInfo.endCursor };
  };

/** What a document calls `page`, at whatever depth, in the first element of lists. */
const pageIn = (data: Data): Data => {
  if (data.page !== undefined) return data.page;
  const [inner] = Object.values(data) as Data[];
  return pageIn(Array.isArray(inner) ? inner[0] : (inner as Data));
};

/** Lists, each with what its statements have in them and no other ones. */
const LISTS: Readonly<Record<string, { readonly of: string; readonly ask: Ask }>> = {
  'secrets in REST': {
    of: 'from secret s',
    ask: rest(
      'secrets',
      ({ shared, path }) => `/api/v4/secrets?projectId=${shared}&environment=dev&secretPath=${path}&`,
    ),
  },
  secrets: {
    of: 'from secret s',
    ask: graphql('secrets(projectId: $shared, environment: "dev", secretPath: $path)'),
  },
  'secrets in an environment': {
    of: 'from secret s',
    ask: graphql('secretConnection(path: $path)', 'project(id: $shared) { environments { @page } }'),
  },
  'secrets in a folder': {
    of: 'from secret s',
    ask: graphql('secretConnection', `folderByPath(projectId: $shared, environment: "dev", path: $path) { @page }`),
  },
  'folders in REST': {
    of: 'from folder f',
    ask: rest('folders', ({ shared, path }) => `/api/v2/folders?projectId=${shared}&environment=dev&path=${path}&`),
  },
  folders: {
    of: 'from folder f',
    ask: graphql('folders(projectId: $shared, environment: "dev", path: $path)'),
  },
  'folders in an environment': {
    of: 'from folder f',
    ask: graphql('folderConnection(path: $path)', 'project(id: $shared) { environments { @page } }'),
  },
  'folders in a folder': {
    of: 'from folder f',
    ask: graphql('folderConnection', `folderByPath(projectId: $shared, environment: "dev", path: $path) { @page }`),
  },
  'tags in REST': { of: 'tag', ask: rest('tags', ({ projectId }) => `/api/v1/projects/${projectId}/tags?`) },
  tags: { of: 'tag', ask: graphql('tags(projectId: $projectId)') },
  'tags of a project': { of: 'tag', ask: graphql('tagConnection', 'project(id: $projectId) { @page }') },
};

const ORDERS = ['NAME', 'CREATED_AT', 'UPDATED_AT'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => ({
    by: `${field} ${direction}`,
    orderBy: `{ field: ${field}, direction: ${direction} }`,
  })),
);

/** Members are of several tables, where their names are. */
const MEMBERS: typeof LISTS = {
  ...Object.fromEntries(
    ORDERS.flatMap(({ by, orderBy }) => [
      [
        `members of a project by ${by}`,
        {
          of: 'from project_membership m where',
          ask: graphql(`memberConnection(orderBy: ${orderBy})`, 'project(id: $projectId) { @page }'),
        },
      ],
      [
        `members of an organization by ${by}`,
        {
          of: 'from organization_membership m where',
          ask: graphql(`organizationMembers(organizationId: $subOrganizationId, orderBy: ${orderBy})`),
        },
      ],
    ]),
  ),
  'members of a project of one kind': {
    of: 'from project_membership m where',
    ask: graphql('projectMemberships(projectId: $projectId, memberKind: IDENTITY)'),
  },
  'members of a group': {
    of: 'from group_member gm',
    ask: graphql('memberConnection', 'group(id: $groupId) { @page }'),
  },
};

/** Makes members of one kind, of a project, a group and a sub-organization. */
const memberRows = (table: string, column: string, name: string): string => `with made as (
    insert into ${table} (id, organization_id, ${name})
    select gen_random_uuid(), p.organization_id, '${table}-' || p.slug || lpad(n::text, 6, '0')
    from project p cross join generate_series(1, $3) n where p.id = $1 returning id, organization_id),
  joined as (
    insert into organization_membership (id, organization_id, ${column}, role)
    select gen_random_uuid(), place.id, made.id, 'no-access'
    from made cross join lateral (values (organization_id), ($4)) place (id) returning organization_id, ${column}),
  grouped as (
    insert into group_member (id, organization_id, group_id, ${column})
    select gen_random_uuid(), organization_id, $2, ${column} from joined where organization_id <> $4)
  insert into project_membership (id, organization_id, project_id, ${column}, roles)
  select gen_random_uuid(), organization_id, $1, ${column}, array['viewer'] from joined where organization_id <> $4`;

/** Makes rows of lists. */
const ROWS = {
  folder: `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
    select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, n.name, f.path || '/' || n.name
    from folder f cross join (select 'at-' || lpad(n::text, 6, '0') as name from generate_series(1, $3) n) n
    where f.project_id = $1 and f.path = $2`,
  identity: memberRows('identity', 'identity_id', 'name'),
  user: memberRows('app_user', 'user_id', 'username'),
  tag: `insert into tag (id, organization_id, project_id, slug, color)
    select gen_random_uuid(), p.organization_id, p.id, 'tag-' || lpad(n::text, 6, '0'), $2
    from project p cross join generate_series(1, $3) n where p.id = $1`,
} as const;

describe('a page', () => {
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  let organizationId: string;
  let places: Readonly<Record<Size, Place>>;
  let admin: Caller;

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    strongroom = await Strongroom.start({ DATABASE_URL: recorder.url });
    const seeded = await strongroom.seed.project();
    ({ admin } = seeded);
    organizationId = seeded.organization.id;
    const shared = seeded.project.id;
    const of = async (size: Size): Promise<Place> => {
      const { id: projectId } = await strongroom.seed.projectOf(admin);
      const { id: groupId } = await strongroom.seed.group(admin);
      const { subOrganization: subOrganizationId } = await seedSub(strongroom.seed, admin);
      return { projectId, groupId, subOrganizationId, shared, path: `/${size}` };
    };
    places = { few: await of('few'), many: await of('many') };
    for (const [size, { projectId, groupId, subOrganizationId, path }] of Object.entries(places) as [Size, Place][]) {
      await addSecrets(shared, size);
      await withClient(databaseUrl, async (client) => {
        await client.query(ROWS.folder, [shared, path, SIZES[size]]);
        for (const text of [ROWS.user, ROWS.identity])
          await client.query(text, [projectId, groupId, SIZES[size], subOrganizationId]);
        await client.query(ROWS.tag, [projectId, '#aa0000', SIZES[size]]);
      });
    }
    replay = await Replay.create();
    await replay.fill(databaseUrl);
    await replay.sql('analyze');
  }, 300_000);

  afterAll(async () => {
    await replay?.close();
    await strongroom?.stop();
    await recorder?.stop();
  });

  const addSecrets = async (projectId: string, size: Size): Promise<void> => {
    const place = { projectId, environment: 'dev' };
    mustSucceed(await admin.post('/api/v2/folders', { ...place, path: '/', name: size }));
    for (let from = 0; from < SIZES[size]; from += 1_000) {
      const secrets = Array.from({ length: Math.min(1_000, SIZES[size]) }, (_, at) => ({
        secretKey: `KEY_${String(from + at).padStart(6, '0')}`,
        secretValue: 'value',
      }));
      mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secretPath: `/${size}`, secrets }));
    }
  };

  /** What the database does for a page. */
  const worksOf = async ({ of, ask }: (typeof LISTS)[string], size: Size, after: string | null): Promise<Work[]> => {
    recorder.executed.length = 0;
    expect((await ask(admin, places[size], { first: PAGE, after })).count).toBe(PAGE);
    // Background tasks send statements at any moment.
    return replay.measure(
      organizationId,
      recorder.executed.filter(({ text }) => text.includes(of)),
    );
  };

  /** Rows and pages of the database that it takes. */
  const costOf = async (...page: Parameters<typeof worksOf>): Promise<number> =>
    (await worksOf(...page)).reduce((sum, work) => sum + work.read, 0);

  /** Cursor of a row after which a little more than a page is left. */
  const lateCursor = async ({ ask }: (typeof LISTS)[string]): Promise<string> => {
    let after: string | null = null;
    for (let seen = 0; seen < SIZES.many - 1_000; seen += 1_000) {
      const { end } = await ask(admin, places.many, { first: 1_000, after });
      if (end === undefined) throw new Error(`the list ends after ${seen} rows`);
      after = end;
    }
    return after as string;
  };

  test.each(Object.entries({ ...LISTS, ...MEMBERS }))(
    'of %s takes as much of the database for 10,000 as for 100, at the top and far below',
    async (_, list) => {
      const few = await costOf(list, 'few', null);
      expect(few).toBeGreaterThan(PAGE);
      expect(await costOf(list, 'many', null)).toBeLessThanOrEqual(1.2 * few);
      expect(await costOf(list, 'many', await lateCursor(list))).toBeLessThanOrEqual(1.2 * few);
    },
    60_000,
  );

  test.each(Object.entries(MEMBERS))('of %s is one statement that returns no more than the page', async (_, list) => {
    for (const after of [null, await lateCursor(list)])
      expect(await worksOf(list, 'many', after)).toMatchObject([{ rows: PAGE + 1 }]);
  });

  test('is decided by rights that take as much of the database in a project of 10,000 members as in one of 100', async () => {
    const costIn = async (size: Size): Promise<number> => {
      await strongroom.sql('insert into access_change default values');
      recorder.executed.length = 0;
      mustSucceed(await admin.get(`/api/v1/projects/${places[size].projectId}/tags?limit=1`));
      const isOfRights = ({ text }: { text: string }) => text.includes('"membershipId"') && text.includes('as until');
      const works = await replay.measure(organizationId, recorder.executed.filter(isOfRights));
      expect(works).toHaveLength(1);
      return works.reduce((sum, work) => sum + work.read, 0);
    };
    expect(await costIn('many')).toBeLessThanOrEqual(1.2 * (await costIn('few')));
  });
});
