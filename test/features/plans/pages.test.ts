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

/** An organization, and an admin of it. */
interface Scope {
  readonly admin: Caller;
  readonly organizationId: string;
}

/**
 * Where pages are: in a project that all share, a folder with as many secrets and folders. In a sub-organization, a project with as many
 * tags, and as many users and machine identities, which come after them by name, as members of the project and of a group. The project
 * owns as many more identities.
 */
interface Place extends Scope {
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

type Ask = (caller: Caller, place: Place, asked: Asked) => Promise<Shown>;

/** A list of REST: `{ secrets, nextCursor }`. */
const rest =
  (name: string, pathOf: (place: Place) => string): Ask =>
  async (caller, place, { first, after }) => {
    const cursor = after === null ? '' : `&cursor=${after}`;
    const { body } = mustSucceed(await caller.get(`${pathOf(place)}limit=${first}${cursor}`));
    return { count: body[name].length, end: body.nextCursor };
  };

const VARIABLES = {
  organizationId: 'ID!',
  projectId: 'ID!',
  groupId: 'ID!',
  shared: 'ID!',
  path: 'String!',
} as const;

/** A connection in a document, in the place of `@page`. @param field with its arguments but those of the page */
const graphql =
  (field: string, within = '@page', idField = 'id'): Ask =>
  async (caller, place, asked) => {
    const called = field.endsWith(')') ? `${field.slice(0, -1)}, ` : `${field}(`;
    const page = `page: ${called}first: $first, after: $after) { nodes { ${idField} } pageInfo { endCursor } }`;
    const text = within.replace('@page', page);
    const used = Object.entries(VARIABLES).filter(([name]) => text.includes(`$${name}`));
    const declared = used.map(([name, type]) => `$${name}: ${type}`).join(' ');
    const data = await caller.data(`query (${declared} $first: Int $after: String) { ${text} }`, {
      ...Object.fromEntries(used.map(([name]) => [name, place[name as keyof typeof VARIABLES]])),
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

interface List {
  /** What its statements have in them and no other ones. */
  readonly of: string;
  readonly ask: Ask;
}

type Lists = Readonly<Record<string, List>>;

/** Lists of the project that all share. */
const SHARED: Lists = {
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
    ask: graphql('secrets(path: $path)', 'project(id: $shared) { environments(slugs: ["dev"]) { @page } }'),
  },
  'secrets in a folder': {
    of: 'from secret s',
    ask: graphql('secrets', `folderByPath(projectId: $shared, environment: "dev", path: $path) { @page }`),
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
    ask: graphql('folders(path: $path)', 'project(id: $shared) { environments(slugs: ["dev"]) { @page } }'),
  },
  'folders in a folder': {
    of: 'from folder f',
    ask: graphql('folders', `folderByPath(projectId: $shared, environment: "dev", path: $path) { @page }`),
  },
};

/** All secrets of a folder that are no more. */
const deletedIn = (environment: string): List => ({
  of: 'from secret_version v',
  ask: graphql(
    `deletedSecrets(projectId: $shared, environment: "${environment}", secretPath: "/gone")`,
    '@page',
    'secretId',
  ),
});
const DELETED = { dev: deletedIn('dev'), staging: deletedIn('staging') };

const TAGS: Lists = {
  'tags in REST': { of: 'tag', ask: rest('tags', ({ projectId }) => `/api/v1/projects/${projectId}/tags?`) },
  tags: { of: 'tag', ask: graphql('tags(projectId: $projectId)') },
  'tags of a project': { of: 'tag', ask: graphql('tags', 'project(id: $projectId) { @page }') },
};

const ORDERS = ['NAME', 'CREATED_AT', 'UPDATED_AT'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => ({
    by: `${field} ${direction}`,
    orderBy: `{ field: ${field}, direction: ${direction} }`,
  })),
);

/** Users, identities and members, whose names are in other tables too. */
const MEMBERS: Lists = {
  ...Object.fromEntries(
    ORDERS.flatMap(({ by, orderBy }) => [
      [
        `members of a project by ${by}`,
        {
          of: 'from project_membership m where',
          ask: graphql(`members(orderBy: ${orderBy})`, 'project(id: $projectId) { @page }'),
        },
      ],
      [
        `members of an organization by ${by}`,
        {
          of: 'from organization_membership m where',
          ask: graphql(`organizationMembers(organizationId: $organizationId, orderBy: ${orderBy})`),
        },
      ],
      [`users by ${by}`, { of: 'from app_user u', ask: graphql(`users(orderBy: ${orderBy})`) }],
      [`identities by ${by}`, { of: 'from identity i', ask: graphql(`identities(orderBy: ${orderBy})`) }],
    ]),
  ),
  'members of a project of one kind': {
    of: 'from project_membership m where',
    ask: graphql('projectMemberships(projectId: $projectId, memberKind: IDENTITY)'),
  },
  'members of a group': {
    of: 'from group_member gm',
    ask: graphql('members', 'group(id: $groupId) { @page }'),
  },
};

const WITHOUT_ADMIN = '{ projectsWithoutAdmin(first: 10) { nodes { projectId } } }';

/** Makes members of one kind, of an organization, a project and a group. */
const memberRows = (table: string, column: string, name: string): string => `with made as (
    insert into ${table} (id, organization_id, ${name})
    select gen_random_uuid(), organization_id, '${table}-' || slug || lpad(n::text, 6, '0')
    from project cross join generate_series(1, $3) n where project.id = $1 returning id, organization_id),
  joined as (
    insert into organization_membership (id, organization_id, ${column}, role)
    select gen_random_uuid(), organization_id, id, 'no-access' from made),
  grouped as (
    insert into group_member (id, organization_id, group_id, ${column})
    select gen_random_uuid(), organization_id, $2, id from made)
  insert into project_membership (id, organization_id, project_id, ${column}, roles)
  select gen_random_uuid(), organization_id, $1, id, array['viewer'] from made`;

/** Makes rows of lists. */
const ROWS = {
  folder: `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
    select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, n.name, f.path || '/' || n.name
    from folder f cross join (select 'at-' || lpad(n::text, 6, '0') as name from generate_series(1, $3) n) n
    where f.project_id = $1 and f.path = $2`,
  ownedIdentity: `with made as (
      insert into identity (id, organization_id, project_id, name)
      select gen_random_uuid(), organization_id, id, 'identity-' || slug || lpad(n::text, 6, '0')
      from project cross join generate_series(1, $2) n where project.id = $1 returning id, organization_id)
    insert into organization_membership (id, organization_id, identity_id, role)
    select gen_random_uuid(), organization_id, id, 'no-access' from made`,
  token: `insert into access_token (id, organization_id, user_id, auth_method, token_hash, ttl_seconds, max_ttl_seconds, num_uses_limit)
    select gen_random_uuid(), u.organization_id, u.id, 'personal', sha256(uuid_send(u.id)), 0, 0, 0
    from app_user u join project p on p.organization_id = u.organization_id where p.id = $1`,
  identity: memberRows('identity', 'identity_id', 'name'),
  user: memberRows('app_user', 'user_id', 'username'),
  tag: `insert into tag (id, organization_id, project_id, slug, color)
    select gen_random_uuid(), p.organization_id, p.id, 'tag-' || lpad(n::text, 6, '0'), $2
    from project p cross join generate_series(1, $3) n where p.id = $1`,
} as const;

/** A statement in the same words, whether a builder wrote it or a person. */
const plain = (text: string): string => text.replaceAll('"', '').replaceAll(' as ', ' ');

describe('a page', () => {
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  /** That of the project that all share. */
  let root: Scope;
  let places: Readonly<Record<Size, Place>>;

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    strongroom = await Strongroom.start({ DATABASE_URL: recorder.url });
    const seeded = await strongroom.seed.project();
    root = { admin: seeded.admin, organizationId: seeded.organization.id };
    const shared = seeded.project.id;
    const of = async (size: Size): Promise<Place> => {
      const { subOrganization: organizationId, admin } = await seedSub(strongroom.seed, root.admin);
      const { id: projectId } = await strongroom.seed.projectOf(admin);
      const { id: groupId } = await strongroom.seed.group(admin);
      return { admin, organizationId, projectId, groupId, shared, path: `/${size}` };
    };
    places = { few: await of('few'), many: await of('many') };
    for (const [size, { projectId, groupId, path }] of Object.entries(places) as [Size, Place][]) {
      await addSecrets(shared, size);
      await withClient(databaseUrl, async (client) => {
        await client.query(ROWS.folder, [shared, path, SIZES[size]]);
        for (const text of [ROWS.user, ROWS.identity]) await client.query(text, [projectId, groupId, SIZES[size]]);
        await client.query(ROWS.token, [projectId]);
        await client.query(ROWS.ownedIdentity, [projectId, SIZES[size]]);
        await client.query(ROWS.tag, [projectId, '#aa0000', SIZES[size]]);
      });
    }
    for (const environment of ['dev', 'staging']) await addDeleted(shared, environment);
    replay = await Replay.create();
    await replay.fill(databaseUrl);
    await replay.sql('analyze');
  });

  afterAll(async () => {
    await replay?.close();
    await strongroom?.stop();
    await recorder?.stop();
  });

  const addSecrets = async (projectId: string, size: Size): Promise<void> => {
    const place = { projectId, environment: 'dev' };
    mustSucceed(await root.admin.post('/api/v2/folders', { ...place, path: '/', name: size }));
    for (let from = 0; from < SIZES[size]; from += 1_000) {
      const secrets = Array.from({ length: Math.min(1_000, SIZES[size]) }, (_, at) => ({
        secretKey: `KEY_${String(from + at).padStart(6, '0')}`,
        secretValue: 'value',
      }));
      mustSucceed(await root.admin.post('/api/v4/secrets/batch', { ...place, secretPath: `/${size}`, secrets }));
    }
  };

  const addDeleted = async (projectId: string, environment: string): Promise<void> => {
    mustSucceed(await root.admin.post('/api/v2/folders', { projectId, environment, path: '/', name: 'gone' }));
    const place = { projectId, environment, secretPath: '/gone' };
    const keys = Array.from({ length: PAGE }, (_, at) => ({ secretKey: `KEY_${at}` }));
    const secrets = keys.map((key) => ({ ...key, secretValue: 'value' }));
    mustSucceed(await root.admin.post('/api/v4/secrets/batch', { ...place, secrets }));
    mustSucceed(await root.admin.delete('/api/v4/secrets/batch', { ...place, secrets: keys }));
  };

  const ofRoot = Object.values({ ...SHARED, ...DELETED });
  const lists = [...ofRoot, ...Object.values({ ...TAGS, ...MEMBERS })];
  const scopeOf = (list: List, size: Size): Scope => (ofRoot.includes(list) ? root : places[size]);

  /** What the database did for each page that was asked for. */
  const measured = new Map<string, Work[]>();

  /** What the database does for a page. */
  const worksOf = async (list: List, size: Size, after: string | null): Promise<Work[]> => {
    const page = [lists.indexOf(list), size, after].join(' ');
    const works = measured.get(page) ?? (await measure(list, size, after));
    measured.set(page, works);
    return works;
  };

  const measure = async (list: List, size: Size, after: string | null): Promise<Work[]> => {
    const { admin, organizationId } = scopeOf(list, size);
    recorder.executed.length = 0;
    expect((await list.ask(admin, places[size], { first: PAGE, after })).count).toBe(PAGE);
    // Background tasks send statements at any moment.
    return replay.measure(
      organizationId,
      recorder.executed.filter(({ text }) => plain(text).includes(list.of)),
    );
  };

  /** Rows and pages of the database that it takes. */
  const costOf = async (...page: Parameters<typeof worksOf>): Promise<number> =>
    (await worksOf(...page)).reduce((sum, work) => sum + work.read, 0);

  const lateCursors = new Map<List, Promise<string>>();
  /** Cursor of a row after which a little more than a page is left. */
  const lateCursor = (list: List): Promise<string> => {
    const found = lateCursors.get(list) ?? walk(list);
    lateCursors.set(list, found);
    return found;
  };

  const walk = async (list: List): Promise<string> => {
    const { admin } = scopeOf(list, 'many');
    let after: string | null = null;
    for (let seen = 0; seen < SIZES.many - 1_000; seen += 1_000) {
      const { end } = await list.ask(admin, places.many, { first: 1_000, after });
      if (end === undefined) throw new Error(`the list ends after ${seen} rows`);
      after = end;
    }
    return after as string;
  };

  test.each(Object.entries({ ...SHARED, ...TAGS, ...MEMBERS }))(
    'of %s takes as much of the database for 10,000 as for 100, at the top and far below',
    async (_, list) => {
      const few = await costOf(list, 'few', null);
      expect(few).toBeGreaterThan(PAGE);
      expect(await costOf(list, 'many', null)).toBeLessThanOrEqual(1.2 * few);
      expect(await costOf(list, 'many', await lateCursor(list))).toBeLessThanOrEqual(1.2 * few);
    },
  );

  test.each(Object.entries(MEMBERS))('of %s is one statement that returns no more than the page', async (_, list) => {
    for (const after of [null, await lateCursor(list)])
      expect(await worksOf(list, 'many', after)).toMatchObject([{ rows: PAGE + 1 }]);
  });

  test('of deleted secrets takes as much of the database beside 10,100 existing ones as beside none', async () => {
    const alone = await costOf(DELETED.staging, 'few', null);
    expect(alone).toBeGreaterThan(PAGE);
    expect(await costOf(DELETED.dev, 'few', null)).toBeLessThanOrEqual(1.2 * alone);
  });

  /** Rows and pages of the database that the one statement takes that is so. */
  const costOfOne = async (size: Size, isIt: (text: string) => boolean): Promise<number> => {
    const works = await replay.measure(
      places[size].organizationId,
      recorder.executed.filter(({ text }) => isIt(text)),
    );
    expect(works).toHaveLength(1);
    return works.reduce((sum, work) => sum + work.read, 0);
  };

  test('is decided by rights that take as much of the database in a project of 10,000 members as in one of 100', async () => {
    const costIn = async (size: Size): Promise<number> => {
      const { admin, projectId } = places[size];
      await strongroom.sql('insert into access_change default values');
      recorder.executed.length = 0;
      mustSucceed(await admin.get(`/api/v1/projects/${projectId}/tags?limit=1`));
      return costOfOne(size, (text) => text.includes('"membershipId"') && text.includes('as until'));
    };
    expect(await costIn('many')).toBeLessThanOrEqual(1.2 * (await costIn('few')));
  });

  test('of projects without an admin takes as much of the database for 10,000 members and tokens as for 100', async () => {
    const costIn = async (size: Size): Promise<number> => {
      recorder.executed.length = 0;
      const { nodes } = (await places[size].admin.data(WITHOUT_ADMIN)).projectsWithoutAdmin;
      expect(nodes).toEqual([]);
      return costOfOne(size, (text) => text.includes('project_lasting_admin'));
    };
    expect(await costIn('many')).toBeLessThanOrEqual(1.2 * (await costIn('few')));
  });
});
