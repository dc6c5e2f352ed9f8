import type { Caller } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld, type World } from '../../kit/world.js';

const strongroom = useSharedStrongroom();

interface Row {
  readonly id: string;
}

/** A list inside of a type. */
interface Nested {
  readonly name: string;
  /** Asks for `$LIST`, in whose place the field stands. */
  readonly inside: string;
  readonly list: string;
  // biome-ignore lint/suspicious/noExplicitAny: data of any shape
  readonly owner: (data: any) => any;
}

const NESTED: readonly Nested[] = [
  {
    name: 'the projects of an organization',
    inside: '{ organization { $LIST } }',
    list: 'projects',
    owner: ({ organization }) => organization,
  },
  {
    name: 'the roles of a project',
    inside: 'query ($project: ID!) { project(id: $project) { $LIST } }',
    list: 'roles',
    owner: ({ project }) => project,
  },
  {
    name: 'the memberships of a user',
    inside: 'query ($user: ID!) { user(id: $user) { $LIST } }',
    list: 'memberships',
    owner: ({ user }) => user,
  },
  {
    name: 'the memberships of a machine identity',
    inside: 'query ($admin: ID!) { identity(id: $admin) { $LIST } }',
    list: 'memberships',
    owner: ({ identity }) => identity,
  },
  {
    name: 'the memberships of a group',
    inside: 'query ($group: ID!) { group(id: $group) { $LIST } }',
    list: 'memberships',
    owner: ({ group }) => group,
  },
];

/** All rows of a connection, each from a page of its own. */
async function walk(page: (field: string) => Promise<Record<string, unknown>>, connection: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after: string | null = null; rows.length < 100; ) {
    const given: string = after === null ? '' : `, after: "${after}"`;
    // biome-ignore lint/suspicious/noExplicitAny: a connection
    const found: any = await page(
      `${connection}(first: 1${given}) { nodes { id } pageInfo { hasNextPage endCursor } }`,
    );
    rows.push(...found[connection].nodes);
    if (found[connection].pageInfo.hasNextPage !== true) break;
    after = found[connection].pageInfo.endCursor;
  }
  return rows;
}

interface Scene {
  readonly admin: Caller;
  readonly world: World;
  readonly variables: Record<string, unknown>;
}

async function makeScene(): Promise<Scene> {
  const { world, admin } = await seedWorld(strongroom.seed, ['project', 'role', 'user', 'otherUser', 'identity']);
  const { group } = (await admin.data('mutation { createGroup(input: { name: "Listed" }) { group { id } } }'))
    .createGroup;
  const projects = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
  for (const { id } of projects)
    await admin.post(`/api/v1/projects/${id}/memberships`, { userId: world.user, role: 'viewer' });
  for (const { id } of [...projects, { id: world.project }])
    await admin.data('mutation ($input: AddProjectMemberInput!) { addProjectMember(input: $input) { __typename } }', {
      input: { projectId: id, memberKind: 'GROUP', memberId: group.id, roles: ['viewer'] },
    });
  await admin.post(`/api/v1/projects/${world.project}/roles`, { slug: 'a-role', name: 'A', permissions: [] });
  const variables = { project: world.project, user: world.user, admin: admin.identityId, group: group.id };
  return { admin, world, variables };
}

/** Of all tests that only read, and of those that make tokens. */
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene();
});

describe('a list inside of a type', () => {
  test.each(NESTED)(
    'has the same rows in the same order as a whole and in pages: $name',
    async ({ inside, list, owner }) => {
      const { admin, variables } = scene;
      const ask = async (field: string) => owner(await admin.data(inside.replace('$LIST', field), variables));
      const { nodes } = (await ask(`${list} { nodes { id } }`))[list];
      expect(nodes.length).toBeGreaterThan(2);
      expect(await walk(ask, list)).toEqual(nodes);
    },
  );

  test('goes on after a role that was deleted meanwhile, and refuses other cursors', async () => {
    const { admin, world } = await makeScene();
    const ROLES = `query ($id: ID!, $after: String) { project(id: $id) {
      roles(first: 1, after: $after) { nodes { slug } pageInfo { endCursor } }
    } }`;
    const pageAfter = async (after: string | null) =>
      (await admin.data(ROLES, { id: world.project, after })).project.roles;
    const first = await pageAfter(null);
    expect(first.nodes).toEqual([{ slug: 'a-role' }]);
    await strongroom.sql(`delete from project_role where project_id = $1 and slug = 'a-role'`, [world.project]);
    expect((await pageAfter(first.pageInfo.endCursor)).nodes).toEqual([{ slug: world.roleSlug }]);
    const { body } = await admin.graphql(ROLES, { id: world.project, after: 'none' });
    expect(body.errors).toMatchObject([{ extensions: { code: 'VALIDATION_FAILED' } }]);
  });
});

test('organizations come in pages, the root first, then by name', async () => {
  const { admin, organization } = await strongroom.seed.organization();
  for (const name of ['b', 'a', 'B'])
    await admin.data(`mutation { createSubOrganization(input: { name: "${name}" }) { __typename } }`);
  const { organizations } = await admin.data('{ organizations { nodes { id name } } }');
  expect(organizations.nodes[0].id).toBe(organization.id);
  expect(organizations.nodes.slice(1).map(({ name }: { name: string }) => name)).toEqual(['B', 'a', 'b']);
  const rows = await walk((field) => admin.data(`{ ${field} }`), 'organizations');
  expect(rows.map(({ id }) => id)).toEqual(organizations.nodes.map(({ id }: Row) => id));
  const refused = await admin.graphql('{ organizations(after: "none") { nodes { id } } }');
  expect(refused).toBeError(422, 'VALIDATION_FAILED');
});

describe('a list that is read in pages of one row', () => {
  test.each([
    ['identities', ''],
    ['users', ''],
    ['clientSecrets', 'identityId'],
    ['accessTokens', 'identityId'],
  ])('has the same rows in the same order as the whole one: %s', async (list, of) => {
    const { admin, world } = scene;
    const input = { identityId: world.identity };
    for (const make of ['createClientSecret', 'createAccessToken', 'createClientSecret', 'createAccessToken'])
      await admin.data(`mutation ($input: ${pascal(make)}Input!) { ${make}(input: $input) { __typename } }`, { input });
    const owner = of === '' ? '' : `${of}: "${world.identity}", `;
    const ask = (field: string) => admin.data(`{ ${field.replace('(', `(${owner}`)} }`);
    const whole = await ask(`${list}(first: 100) { nodes { id } }`);
    expect(whole[list].nodes.length).toBeGreaterThan(1);
    expect(await walk(ask, list)).toEqual(whole[list].nodes);
  });
});

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
