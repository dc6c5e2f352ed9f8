import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { forGood } from './member-roles.js';

const strongroom = useSharedStrongroom();

/** A machine identity of the organization and the path of its membership. */
async function seedMember(role: 'admin' | 'member' | 'viewer' | 'no-access' | null) {
  const { admin, project, organization } = await strongroom.seed.project();
  const caller = await strongroom.seed.caller(admin, {
    organizationRole: 'member',
    ...(role === null ? {} : { project: project.id, projectRoles: [role] }),
  });
  const list = `/api/v2/workspace/${project.id}/identity-memberships`;
  return {
    admin,
    project,
    organization,
    caller,
    list,
    path: `${list}/${caller.identityId}`,
    own: `${list}/${admin.identityId}`,
  };
}

describe('machine identities of a project', () => {
  test('join, change roles and leave', async () => {
    const { admin, project, caller, list, path } = await seedMember(null);
    const added = await admin.post(path, { roles: [{ role: 'viewer' }, { role: 'no-access', isTemporary: false }] });
    expect(added.status).toBe(200);
    expect(added.body.identityMembership).toMatchObject({
      projectId: project.id,
      identityId: caller.identityId,
      roles: [{ role: 'viewer' }, { role: 'no-access' }],
    });
    expect((await admin.get(path)).body).toEqual(added.body);
    expect(await admin.post(path, { role: 'viewer' })).toBeError(409, 'ALREADY_A_MEMBER');
    expect((await admin.patch(path, { role: 'member' })).body.identityMembership.roles).toEqual(forGood('member'));
    expect((await admin.get(list)).body.identityMemberships).toHaveLength(2);
    expect((await admin.delete(path)).status).toBe(200);
    expect(await admin.get(path)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await caller.get(`/api/v1/projects/${project.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('must belong to the organization; a foreign one is as unknown as any', async () => {
    const { admin, list } = await seedMember(null);
    const { admin: foreign } = await strongroom.seed.organization();
    const texts = [];
    for (const id of [foreign.identityId, randomUUID(), 'no-uuid']) {
      const reply = await admin.post(`${list}/${id}`, { role: 'viewer' });
      expect(reply).toBeError(404, 'IDENTITY_NOT_FOUND');
      texts.push(reply.text.replace(reply.body.reqId, ''));
    }
    expect(new Set(texts).size).toBe(1);
  });

  test('have 1 to 10 known roles, each once, given in one way', async () => {
    const { admin, path } = await seedMember(null);
    for (const body of [
      {},
      { role: 'No Slug' },
      { roles: Array.from({ length: 11 }, (_, index) => ({ role: `role-${index}` })) },
      { roles: [] },
      { roles: [{ role: 'viewer' }, { role: 'viewer' }] },
      { role: 'viewer', roles: [{ role: 'viewer' }] },
      { roles: [{ role: 'viewer', isTemporary: true }] },
      { roles: ['viewer'] },
    ]) {
      expect(await admin.post(path, body)).toBeError(422, 'VALIDATION_FAILED');
    }
    expect(await admin.post(path, { role: 'owner' })).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('are read by viewers, and changed by those who may, never beyond their own rights', async () => {
    const { admin, project, caller: developer, list, path, own } = await seedMember('member');
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const other = await strongroom.seed.caller(admin, {});
    expect((await viewer.get(list)).status).toBe(200);
    expect(await viewer.post(`${list}/${other.identityId}`, { role: 'no-access' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    expect(await developer.post(`${list}/${other.identityId}`, { role: 'admin' })).toBeError(
      403,
      'PERMISSION_BOUNDARY',
    );
    expect(await developer.patch(path, { role: 'admin' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await developer.patch(own, { role: 'viewer' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await developer.delete(own)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await developer.post(`${list}/${other.identityId}`, { role: 'member' })).status).toBe(200);
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await stranger.get(list)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await stranger.delete(path)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('always include an admin, also when two admins turn on each other at the same moment', async () => {
    const { admin, caller, path, own } = await seedMember('member');
    expect(await admin.delete(own)).toBeError(409, 'LAST_ADMIN');
    expect(await admin.patch(own, { role: 'member' })).toBeError(409, 'LAST_ADMIN');
    for (let round = 0; round < rounds(5); round += 1) {
      await strongroom.sql(`update project_membership set roles = '{admin}' where identity_id in ($1, $2)`, [
        admin.identityId,
        caller.identityId,
      ]);
      const replies = await Promise.all([admin.patch(path, { role: 'viewer' }), caller.patch(own, { role: 'viewer' })]);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });

  test('leave its projects when they leave the organization', async () => {
    const { admin, path, caller } = await seedMember('viewer');
    await strongroom.sql('delete from organization_membership where identity_id = $1', [caller.identityId]);
    expect(await admin.get(path)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
  });
});

describe('people of a project', () => {
  test('join, change roles and leave', async () => {
    const { admin, project, organization } = await strongroom.seed.project();
    const userId = randomUUID();
    await strongroom.sql('insert into app_user (id, organization_id, username) values ($1, $2, $3)', [
      userId,
      organization.id,
      'anna',
    ]);
    await strongroom.sql(
      `insert into organization_membership (id, organization_id, user_id, role) values (gen_random_uuid(), $1, $2, 'member')`,
      [organization.id, userId],
    );
    const path = `/api/v1/projects/${project.id}/memberships`;
    const added = await admin.post(path, { userId, role: 'member' });
    expect(added.body.membership).toMatchObject({ userId, username: 'anna', roles: [{ role: 'member' }] });
    expect((await admin.get(path)).body.memberships).toEqual([added.body.membership]);
    expect((await admin.patch(`${path}/${userId}`, { role: 'viewer' })).body.membership.roles).toEqual(
      forGood('viewer'),
    );
    expect((await admin.delete(`${path}/${userId}`)).status).toBe(200);
    expect(await admin.delete(`${path}/${userId}`)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    for (const unknown of [randomUUID(), 'no-uuid', admin.identityId]) {
      expect(await admin.post(path, { userId: unknown, role: 'member' })).toBeError(404, 'USER_NOT_FOUND');
    }
  });
});

test('members inside of a project are those that the caller may read', async () => {
  const { admin, project, caller } = await seedMember('viewer');
  const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
  const document = `{ project(id: "${project.id}") { members { nodes { memberId memberKind roleSlugs } } } }`;
  expect((await caller.graphql(document)).body.data.project.members.nodes).toHaveLength(3);
  expect((await nobody.graphql(document)).body.data.project.members).toBeNull();
});

test('roles of members have the objects beside their slugs, in two statements for all members', async () => {
  const { admin, project } = await strongroom.seed.project();
  const role = { slug: 'deployer', name: 'Deployer', permissions: [] };
  const made = mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, role)).body.role;
  const roles = 'roleSlugs roles { id slug name projectId }';
  const document = `{ project(id: "${project.id}") { roles { nodes { id slug } } members { nodes { memberId ${roles} } } } }`;
  const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer', 'deployer'] });
  const reading = { slug: 'reader', name: 'Reader', permissions: [{ subject: 'identity', action: 'read' }] };
  mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, reading));
  const reader = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['reader'] });

  const shown = await admin.data(document);
  const of = (memberId: unknown) =>
    shown.project.members.nodes.find((it: { memberId: unknown }) => it.memberId === memberId);
  const idOf = (slug: string) => shown.project.roles.nodes.find((it: { slug: string }) => it.slug === slug).id;
  expect(of(caller.identityId)).toMatchObject({
    roleSlugs: ['viewer', 'deployer'],
    roles: [
      { id: idOf('viewer'), slug: 'viewer', projectId: project.id },
      { id: made.id, slug: 'deployer', name: 'Deployer', projectId: project.id },
    ],
  });
  expect(of(admin.identityId)).toMatchObject({ roleSlugs: ['admin'], roles: [{ id: idOf('admin'), slug: 'admin' }] });

  const counted = async (asked: string) =>
    (
      await strongroom.statements(() =>
        admin.data(`{ project(id: "${project.id}") { members { nodes { ${asked} } } } }`),
      )
    ).count;
  expect((await counted(roles)) - (await counted('roleSlugs'))).toBeLessThanOrEqual(2);

  const membership = `projectMembership(projectId: "${project.id}", memberKind: IDENTITY, memberId: "${caller.identityId}")`;
  const { body } = await reader.graphql(`{ ${membership} { ${roles} } }`);
  expect(body.data).toEqual({ projectMembership: { roleSlugs: ['viewer', 'deployer'], roles: null } });
  expect(body.errors).toMatchObject([
    { path: ['projectMembership', 'roles'], extensions: { code: 'PERMISSION_DENIED' } },
  ]);
});

describe('users that are added by name', () => {
  const usersOf = async (usernames: readonly string[]) => {
    const { admin, project } = await strongroom.seed.project();
    const ids: string[] = [];
    for (const username of usernames) {
      const { createUser } = await admin.data(
        'mutation ($u: String!) { createUser(input: { username: $u }) { user { id } } }',
        { u: username },
      );
      ids.push(createUser.user.id);
    }
    const path = `/api/v2/workspace/${project.id}/memberships`;
    return { admin, project, ids, invite: (body: object) => admin.post(path, body) };
  };
  const list = (project: { id: string }) => `/api/v1/projects/${project.id}/memberships`;

  test('join all or nothing, and each leaves a row in the audit trail', async () => {
    const { admin, project, ids, invite } = await usersOf(['ann', 'bob']);

    const unknown = await invite({ usernames: ['ann', 'nobody', 'bob', 'none'] });

    expect(unknown).toBeError(404, 'USER_NOT_FOUND');
    expect(unknown.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.usernames[1]',
      'body.usernames[3]',
    ]);
    expect((await admin.get(list(project))).body.memberships).toEqual([]);
    const made = await invite({ usernames: ['bob', 'ann'], emails: ['ann'], roleSlugs: ['viewer', 'member'] });
    expect(made.body.memberships.map(({ userId }: { userId: string }) => userId)).toEqual(ids);
    expect((await admin.get(list(project))).body.memberships).toEqual(made.body.memberships);
    const rows = await strongroom.auditRows(`request_id = $1`, [made.headers['x-request-id']]);
    expect(rows.map(({ action, facts }) => [action, facts.memberId])).toEqual([
      ['project-membership:create', ids[0]],
      ['project-membership:create', ids[1]],
    ]);
    expect(await invite({ usernames: ['ann'] })).toBeError(409, 'ALREADY_A_MEMBER');
  });

  test('take the same few statements, however many they are', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const { invite } = await usersOf(names);
    await invite({ usernames: names.slice(0, 1) });
    const one = await strongroom.statements(() => invite({ usernames: names.slice(1, 2) }));
    const many = await strongroom.statements(() => invite({ usernames: names.slice(2) }));
    expect(many.result.body.memberships).toHaveLength(18);
    expect(many.count).toBe(one.count);
  });

  test('are people of the organization, at least one and at most 100', async () => {
    const { invite } = await usersOf([]);
    await usersOf(['of-strangers']);
    expect(await invite({ usernames: ['of-strangers'] })).toBeError(404, 'USER_NOT_FOUND');
    const many = Array.from({ length: 101 }, (_, index) => `user-${index}`);
    for (const body of [
      {},
      { usernames: [] },
      { usernames: many },
      { usernames: ['a'], roleSlugs: [] },
      { names: [] },
    ]) {
      expect(await invite(body)).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('get no more than who invites them has', async () => {
    const { admin, project } = await usersOf(['ann']);
    const member = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const path = `/api/v2/workspace/${project.id}/memberships`;
    expect(await member.post(path, { usernames: ['ann'], roleSlugs: ['admin'] })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await member.post(path, { usernames: ['ann'], roleSlugs: ['member'] })).status).toBe(200);
  });
});
