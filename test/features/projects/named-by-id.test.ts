import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { makeWorld, seedWorld, type World } from '../../kit/world.js';

type Owner = 'projectId' | 'identityId';

interface Case {
  readonly field: string;
  readonly thing: 'tag' | 'environment' | 'role' | 'clientSecret';
  readonly owner: Owner;
  readonly isQuery: boolean;
  readonly change: Readonly<Record<string, string>>;
  readonly code: string;
}

const query = (thing: Case['thing'], field: string, code: string, owner: Owner = 'projectId'): Case[] => [
  { field, thing, owner, isQuery: true, change: {}, code },
];
const mutations = (thing: Case['thing'], name: string, change: Case['change'], code: string): Case[] => [
  { field: `update${name}`, thing, owner: 'projectId', isQuery: false, change, code },
  { field: `delete${name}`, thing, owner: 'projectId', isQuery: false, change: {}, code },
];

const CASES: readonly Case[] = [
  ...query('tag', 'tag', 'TAG_NOT_FOUND'),
  ...mutations('tag', 'Tag', { color: 'red' }, 'TAG_NOT_FOUND'),
  ...query('environment', 'environment', 'ENVIRONMENT_NOT_FOUND'),
  ...mutations('environment', 'Environment', { name: 'new' }, 'ENVIRONMENT_NOT_FOUND'),
  ...query('role', 'projectRole', 'ROLE_NOT_FOUND'),
  ...mutations('role', 'ProjectRole', { name: 'new' }, 'ROLE_NOT_FOUND'),
  ...query('clientSecret', 'clientSecret', 'CLIENT_SECRET_NOT_FOUND', 'identityId'),
  {
    ...(query('clientSecret', 'revokeClientSecret', 'CLIENT_SECRET_NOT_FOUND', 'identityId')[0] as Case),
    isQuery: false,
  },
];
const THINGS = ['tag', 'environment', 'role', 'clientSecret'] as const;
const rows = CASES.map((each) => [each.field, each] as const);

function send(caller: Caller, { field, isQuery, change, thing }: Case, key: Readonly<Record<string, string>>) {
  const given = Object.entries({ ...key, ...change })
    .map(([name, value]) => `${name}: "${value}"`)
    .join(', ');
  const payload = thing === 'clientSecret' ? 'clientSecretData' : thing;
  return caller.graphql(
    isQuery ? `{ ${field}(${given}) { id } }` : `mutation { ${field}(input: { ${given} }) { ${payload} { id } } }`,
  );
}

const ownerOf = (world: World, { owner }: Case): string => (owner === 'projectId' ? world.project : world.identity);

describe('what is named by its id', () => {
  const strongroom = useSharedStrongroom();

  /** Whatever is asked of them is refused, and changes nothing. */
  let refused: { world: World; admin: Caller; foreign: World; neighbour: World };
  beforeAll(async () => {
    const { world, admin } = await seedWorld(strongroom.seed, [...THINGS, 'otherIdentity']);
    const { world: foreign } = await seedWorld(strongroom.seed, THINGS);
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    refused = { world, admin, foreign, neighbour: await makeWorld(colleague, world.organization, THINGS) };
  });

  const recordsOf = async ({ headers }: Reply) => {
    const found = await strongroom.auditRows('request_id = $1', [headers['x-request-id']]);
    return found.map(({ action, project_id }) => ({ action, project_id }));
  };

  test.each(rows)('%s needs no owner, and leaves the same record as with it', async (_, each) => {
    const seed = () => seedWorld(strongroom.seed, [each.thing]);
    const [one, other] = [await seed(), await seed()];
    const id = one.world[each.thing];
    const alone = mustSucceed(await send(one.admin, each, { id }));
    const beside = mustSucceed(
      await send(other.admin, each, { id: other.world[each.thing], [each.owner]: ownerOf(other.world, each) }),
    );

    expect(alone.text).toContain(id);
    const ofProject = (world: World) => (each.owner === 'projectId' ? world.project : null);
    const [record] = await recordsOf(alone);
    expect(record).toMatchObject({ project_id: ofProject(one.world) });
    expect(await recordsOf(beside)).toEqual([{ ...record, project_id: ofProject(other.world) }]);
  });

  test.each(rows)('%s is not found, by the same statements, where the caller may not know of it', async (_, each) => {
    const { admin, foreign, neighbour } = refused;
    const ids = [randomUUID(), foreign[each.thing], ...(each.owner === 'projectId' ? [neighbour[each.thing]] : [])];
    const counts: number[] = [];
    for (const id of ids) {
      const { result, count } = await strongroom.statements(() => send(admin, each, { id }));
      expect(result).toBeError(404, each.code);
      counts.push(count);
    }
    expect(new Set(counts).size).toBe(1);
    expect(await send(admin, each, { id: 'no-such-thing' })).toBeError(404, each.code);
  });

  test.each(rows)('%s finds it only in the owner that is given', async (_, each) => {
    const { admin, world, neighbour } = refused;
    const own = await strongroom.seed.projectOf(admin);
    const id = world[each.thing];
    const another = each.owner === 'projectId' ? own.id : world.otherIdentity;
    expect(await send(admin, each, { id, [each.owner]: another })).toBeError(404, each.code);
    if (each.owner === 'projectId')
      expect(await send(admin, each, { id, projectId: neighbour.project })).toBeError(404, 'PROJECT_NOT_FOUND');
    else expect(await send(admin, each, { id, identityId: randomUUID() })).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('is refused to members who may not do it', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, THINGS);
    const nobody = await strongroom.seed.caller(admin, { project: world.project, projectRoles: ['no-access'] });
    for (const each of CASES.filter(({ owner }) => owner === 'projectId'))
      expect(await send(nobody, each, { id: world[each.thing] })).toBeError(403, 'PERMISSION_DENIED');
  });

  test('may be a built-in role, which is read and does not change', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, ['project']);
    const builtIn = async (caller: Caller, project: string): Promise<string> =>
      mustSucceed(await caller.get(`/api/v1/projects/${project}/roles/slug/viewer`)).body.role.id;
    const id = await builtIn(admin, world.project);
    expect(await admin.data(`{ projectRole(id: "${id.toUpperCase()}") { id slug projectId } }`)).toEqual({
      projectRole: { id, slug: 'viewer', projectId: world.project },
    });
    for (const each of CASES.filter(({ thing, isQuery }) => thing === 'role' && !isQuery)) {
      expect(await send(admin, each, { id })).toBeError(409, 'ROLE_BUILT_IN');
    }
    const { admin: stranger } = await strongroom.seed.project();
    expect(await stranger.graphql(`{ projectRole(id: "${id}") { id } }`)).toBeError(404, 'ROLE_NOT_FOUND');
  });
});
