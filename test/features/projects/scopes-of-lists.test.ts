import type { Caller } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { organizationCaller } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const LIST = `query ($scope: ProjectScope, $type: ProjectType, $first: Int, $after: String) {
  projects(scope: $scope, type: $type, first: $first, after: $after) {
    totalCount nodes { id name slug type viewerHasAccess } pageInfo { hasNextPage endCursor } } }`;
const everywhere = async (caller: Caller, more: object = {}) =>
  (await caller.data(LIST, { scope: 'ORGANIZATION', ...more })).projects;
const LISTS = [{ subject: 'workspace', action: 'list' }];

/** An organization with a project of its admin, one of somebody else, and one of another type. */
async function scene() {
  const { admin, organization } = await strongroom.seed.organization();
  const maker = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  const own = await strongroom.seed.projectOf(admin);
  const other = await strongroom.seed.projectOf(maker);
  const { body } = await maker.post('/api/v2/workspace', { projectName: 'keys', type: 'kms' });
  return { admin, maker, organization, own, other, keys: body.project };
}

const namesOf = ({ nodes }: { nodes: { name: string }[] }): string[] => nodes.map(({ name }) => name).sort();

describe('a list of all projects of the organization', () => {
  test('has those that the caller has no access to, marked, and the default has none of them', async () => {
    const { admin, own, other, keys } = await scene();
    const { totalCount, nodes } = await everywhere(admin);
    expect(totalCount).toBe(3);
    expect(Object.fromEntries(nodes.map((each: { id: string; viewerHasAccess: boolean }) => [each.id, each]))).toEqual({
      [own.id]: { id: own.id, name: own.name, slug: own.slug, type: 'SECRET_MANAGER', viewerHasAccess: true },
      [other.id]: { id: other.id, name: other.name, slug: other.slug, type: 'SECRET_MANAGER', viewerHasAccess: false },
      [keys.id]: { id: keys.id, name: 'keys', slug: keys.slug, type: 'KMS', viewerHasAccess: false },
    });
    for (const scope of [undefined, null, 'ACCESSIBLE'])
      expect((await admin.data(LIST, { scope })).projects).toMatchObject({ totalCount: 1, nodes: [{ id: own.id }] });
    const rest = await admin.get('/api/v1/projects?scope=organization');
    expect(namesOf({ nodes: rest.body.projects })).toEqual([own.name, other.name, 'keys'].sort());
    expect((await admin.get('/api/v1/projects')).body.projects).toHaveLength(1);
  });

  test('is filtered by type, and pages', async () => {
    const { admin, keys } = await scene();
    expect(await everywhere(admin, { type: 'KMS' })).toMatchObject({ totalCount: 1, nodes: [{ id: keys.id }] });
    const found = [];
    for (let after: string | null = null; ; ) {
      const page: { nodes: unknown[]; pageInfo: { hasNextPage: boolean; endCursor: string } } = await everywhere(
        admin,
        {
          first: 1,
          after,
        },
      );
      found.push(...page.nodes);
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(found).toEqual((await everywhere(admin)).nodes);
  });

  test('has nothing of what is in the others', async () => {
    const { admin, maker, other } = await scene();
    await maker.patch(`/api/v1/projects/${other.id}`, {
      description: 'a description',
      secretDetectionIgnoreValues: ['ignored'],
    });
    const { body, text } = await admin.graphql(`{ projects(scope: ORGANIZATION) { nodes {
      id description secretDetectionIgnoreValues environments { slug }
      viewerPermissions { subject } members { nodes { id } } roles { totalCount } tags { nodes { id } }
      secretRotations { nodes { id } } certificates { nodes { id } } certificateAuthorities { nodes { id } }
      certificateProfiles { nodes { id } } certificateAlerts { nodes { id } }
      notificationChannels { id } notificationMessages { nodes { id } } undeliveredNotifications { __typename } projectTemplateVersion { id } } } }`);
    const found = body.data.projects.nodes.find(({ id }: { id: string }) => id === other.id);
    const { id, environments, viewerPermissions, ...rest } = found;
    expect({ id, environments, viewerPermissions }).toEqual({
      id: other.id,
      environments: [],
      viewerPermissions: [],
    });
    expect(Object.values(rest).every((value) => value === null)).toBe(true);
    expect(text).not.toMatch(/a description|ignored/);
    const at = body.data.projects.nodes.indexOf(found);
    const denied = body.errors
      .filter(({ path }: { path: unknown[] }) => path[2] === at)
      .map(({ path, extensions }: { path: string[]; extensions: { code: string } }) => [path[3], extensions.code]);
    expect(denied).toContainEqual(['members', 'PERMISSION_DENIED']);
    expect(new Set(denied.map(([, code]: string[]) => code))).toEqual(new Set(['PERMISSION_DENIED']));
    expect(await admin.get(`/api/v1/projects/${other.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('is for who may list them, and refused to others, not shortened', async () => {
    const { admin, organization, own, other } = await scene();
    const lister = await organizationCaller(strongroom, admin, ...LISTS);
    expect(namesOf(await everywhere(lister))).toEqual([own.name, other.name, 'keys'].sort());
    expect((await lister.data(LIST)).projects.nodes).toEqual([]);
    const [{ facts } = { facts: null }] = await strongroom.auditRows(
      `organization_id = $1 and action = 'project:list' and actor_id = $2`,
      [organization.id, lister.identityId],
    );
    expect(facts).toMatchObject({ count: 3, scope: 'organization' });
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member', project: own.id });
    expect(await member.graphql(LIST, { scope: 'ORGANIZATION' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.get('/api/v1/projects?scope=organization')).toBeError(403, 'PERMISSION_DENIED');
    expect((await member.data(LIST)).projects.nodes).toMatchObject([{ id: own.id }]);
  });

  test('has nothing of other organizations', async () => {
    const { own, other, keys } = await scene();
    const { admin: stranger } = await strongroom.seed.organization();
    const ids = (await everywhere(stranger)).nodes.map(({ id }: { id: string }) => id);
    for (const { id } of [own, other, keys]) expect(ids).not.toContain(id);
  });

  test('takes as many statements however many there are', async () => {
    const { admin, maker } = await scene();
    const count = async () => (await strongroom.statements(() => everywhere(admin))).count;
    const few = await count();
    for (let made = 0; made < 20; made++) await strongroom.seed.projectOf(maker);
    expect((await everywhere(admin)).nodes).toHaveLength(23);
    expect(await count()).toBe(few);
  });
});

test('projects without an admin are shown to who may list all projects', async () => {
  const { admin } = await scene();
  const lister = await organizationCaller(strongroom, admin, ...LISTS);
  const LOST = '{ projectsWithoutAdmin { nodes { projectId } } }';
  expect((await lister.data(LOST)).projectsWithoutAdmin.nodes).toEqual([]);
  const nobody = await organizationCaller(strongroom, admin, { subject: 'workspace', action: 'create' });
  expect(await nobody.graphql(LOST)).toBeError(403, 'PERMISSION_DENIED');
});
