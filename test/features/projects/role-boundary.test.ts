import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { forGood } from './member-roles.js';

const strongroom = useSharedStrongroom();

async function seeded() {
  const { admin, project } = await strongroom.seed.project();
  return { admin, project, roles: `/api/v1/projects/${project.id}/roles` };
}

/** A member with these roles, and the path of its membership. */
async function memberWith(admin: Caller, projectId: string, ...projectRoles: string[]) {
  const caller = await strongroom.seed.caller(admin, { project: projectId, projectRoles });
  return { caller, membership: `/api/v2/workspace/${projectId}/identity-memberships/${caller.identityId}` };
}

describe('whoever may make roles', () => {
  const MANAGER = [
    { subject: 'role', action: ['read', 'create', 'edit', 'delete'] },
    { subject: 'identity', action: ['read', 'create', 'edit', 'delete'] },
  ];
  const ON_DEV = { subject: 'secrets', action: 'edit', conditions: { environment: 'dev' } };
  const NOT_ON_PROD = { subject: 'secrets', action: 'edit', inverted: true, conditions: { environment: 'prod' } };
  const EDIT = { subject: 'secrets', action: 'edit' };

  /** A caller who is no admin, may make roles and give them, and has these rights besides. */
  async function manager(...permissions: unknown[]) {
    const scene = await seeded();
    const make = async (slug: string, given: readonly unknown[]) =>
      mustSucceed(await scene.admin.post(scene.roles, { slug, name: slug, permissions: given })).body.role;
    const own = await make('manager', [...MANAGER, ...permissions]);
    const { caller, membership } = await memberWith(scene.admin, scene.project.id, 'manager');
    return { ...scene, caller, membership, own, make };
  }

  test('cannot make one that allows more than its own rights, and is told what is missing', async () => {
    const { caller, roles } = await manager(ON_DEV);
    const make = (slug: string, ...permissions: unknown[]) => caller.post(roles, { slug, name: 'X', permissions });
    expect((await make('a', ON_DEV)).status).toBe(200);
    expect((await make('b', { ...ON_DEV, conditions: { environment: 'dev', secretPath: '/a' } })).status).toBe(200);
    expect((await make('c', { ...EDIT, inverted: true })).status).toBe(200);
    const refused = await make('d', EDIT, { subject: 'tags', action: ['read', 'delete'] });
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual(
      [
        ['secrets', 'edit'],
        ['tags', 'read'],
        ['tags', 'delete'],
      ].map(([path, code]) => ({ path, code, message: `requires the action ${code} on ${path}` })),
    );
    for (const conditions of [{ environment: { $ne: 'prod' } }, { secretPath: '/a' }]) {
      expect(await make('e', { ...EDIT, conditions })).toBeError(403, 'PERMISSION_BOUNDARY');
    }
    const denied = await strongroom.auditRows(`outcome = 'denied' and actor_id = $1`, [caller.identityId]);
    expect(denied.map(({ action }) => action)).toEqual(['role:create', 'role:create', 'role:create']);
  });

  test('cannot change one to allow more, to forbid less, or one that allows more already', async () => {
    const { caller, roles, own, make } = await manager(EDIT, NOT_ON_PROD);
    const free = await make('free', [EDIT]);
    const tight = await make('tight', [{ ...EDIT, inverted: true }]);
    const patch = (id: string, ...permissions: unknown[]) => caller.patch(`${roles}/${id}`, { permissions });
    expect(await patch(own.id, ...MANAGER, EDIT)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await patch(own.id, ...MANAGER, NOT_ON_PROD, EDIT)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await patch(free.id)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await patch(tight.id)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await patch(tight.id, ON_DEV, NOT_ON_PROD, { ...EDIT, inverted: true })).status).toBe(200);
    expect((await patch(own.id, ...MANAGER, NOT_ON_PROD)).status).toBe(200);
  });

  test('cannot rename or delete one that allows more, nor take its slug', async () => {
    const { admin, caller, project, roles, make } = await manager(ON_DEV);
    const [mighty, like] = [await make('mighty', [EDIT]), await make('like', [ON_DEV])];
    const { membership } = await memberWith(admin, project.id, 'mighty');
    for (const change of [{ slug: 'away' }, { name: 'Away' }, { description: 'harmless' }, {}])
      expect(await caller.patch(`${roles}/${mighty.id}`, change)).toBeError(403, 'PERMISSION_BOUNDARY');
    const swap = await caller.patch(`${roles}/${like.id}`, { slug: 'mighty' });
    expect(swap).toBeError(409, 'ROLE_SLUG_TAKEN');
    expect((await admin.get(membership)).body.identityMembership.roles).toEqual(forGood('mighty'));
    mustSucceed(await admin.patch(membership, { role: 'viewer' }));
    expect(await caller.delete(`${roles}/${mighty.id}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await caller.patch(`${roles}/${like.id}`, { slug: 'alike', name: 'Alike' }));
    mustSucceed(await caller.delete(`${roles}/${like.id}`));
  });

  test('cannot give one that allows more, nor touch who has one, whether or not it may grant privileges', async () => {
    const { admin, caller, project, own, roles, make } = await manager(ON_DEV);
    await make('on-dev', [ON_DEV]);
    await make('anywhere', [EDIT]);
    const { membership } = await memberWith(admin, project.id, 'on-dev');
    const { membership: mighty } = await memberWith(admin, project.id, 'anywhere');
    const give = (path: string, ...slugs: string[]) =>
      caller.patch(path, { roles: slugs.map((slug) => ({ role: slug })) });
    expect((await give(membership, 'no-access', 'on-dev')).status).toBe(200);
    const beyond = await give(membership, 'on-dev', 'anywhere');
    expect(beyond).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(beyond.body.details).toEqual([
      { path: 'secrets', code: 'edit', message: 'requires the action edit on secrets' },
    ]);
    expect(await give(membership, 'viewer')).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await give(mighty, 'on-dev')).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.delete(mighty)).toBeError(403, 'PERMISSION_BOUNDARY');
    const permissions = [...MANAGER, ON_DEV, { subject: 'identity', action: 'grant-privileges' }];
    mustSucceed(await admin.patch(`${roles}/${own.id}`, { permissions }));
    expect(await give(mighty, 'on-dev')).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.delete(mighty)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(`${roles}/${own.id}`, { permissions: [...permissions, EDIT] }));
    expect((await give(mighty, 'on-dev')).status).toBe(200);
  });

  test('is bounded as an admin by its rights, not by the name of its role', async () => {
    const { admin, roles, project, make } = await manager();
    const role = await make('all', [EDIT, { subject: 'workspace', action: 'delete' }]);
    expect((await admin.patch(`${roles}/${role.id}`, { permissions: [EDIT] })).status).toBe(200);
    await make('not-on-prod', [NOT_ON_PROD]);
    const { caller: bounded } = await memberWith(admin, project.id, 'admin', 'not-on-prod');
    const change = { name: 'Other' };
    expect(await bounded.patch(`${roles}/${role.id}`, change)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await bounded.delete(`${roles}/${role.id}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await bounded.post(roles, { slug: 'x', name: 'X', permissions: [EDIT] })).toBeError(
      403,
      'PERMISSION_BOUNDARY',
    );
  });
});
