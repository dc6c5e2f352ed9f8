import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

/** A group with one machine identity, and the paths of its membership. */
async function scene() {
  const { admin, project, organization } = await strongroom.seed.project();
  const caller = await strongroom.seed.caller(admin, {});
  const group = await strongroom.seed.group(admin, caller);
  const list = `/api/v2/workspace/${project.id}/groups`;
  return { admin, project, organization, caller, group, list, path: `${list}/${group.id}` };
}

const roleOf = (role: string, customRoleSlug: string | null = null) => ({
  role,
  customRoleSlug,
  isTemporary: false,
  temporaryMode: null,
  temporaryRange: null,
  temporaryAccessStartTime: null,
  temporaryAccessEndTime: null,
});

const makeRole = async (admin: Caller, projectId: string, slug: string, permissions: unknown[]) =>
  mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, { slug, name: slug, permissions })).body.role;

describe('groups of a project', () => {
  test('join, change roles and leave, and their members with them', async () => {
    const { admin, project, caller, group, list, path } = await scene();
    const own = `/api/v1/projects/${project.id}`;
    await makeRole(admin, project.id, 'deployer', [{ subject: 'secrets', action: 'edit' }]);
    expect(await caller.get(own)).toBeError(404, 'PROJECT_NOT_FOUND');

    const roles = [{ role: 'viewer' }, { role: 'deployer' }];
    const added = mustSucceed(await admin.post(path, { projectId: project.id, roles })).body.groupMembership;

    expect(added).toMatchObject({
      id: expect.any(String),
      groupId: group.id,
      projectId: project.id,
      name: group.name,
      roles: [roleOf('viewer'), roleOf('custom', 'deployer')],
    });
    expect((await caller.get(own)).status).toBe(200);
    expect((await admin.get(list)).body).toEqual({ groupMemberships: [added] });
    for (const named of [group.id, group.id.toUpperCase(), group.slug, encodeURIComponent(group.name)])
      expect((await admin.get(`${list}/${named}`)).body).toEqual({ groupMembership: added });
    expect(await admin.post(path, { role: 'viewer' })).toBeError(409, 'ALREADY_A_MEMBER');
    expect(await caller.delete(own)).toBeError(403, 'PERMISSION_DENIED');
    const changed = mustSucceed(await admin.patch(`${list}/${group.slug}`, { roles: [{ role: 'admin' }] })).body;
    expect(changed.groupMembership.roles).toEqual([roleOf('admin')]);
    mustSucceed(await caller.patch(own, { description: 'as admin' }));
    mustSucceed(await admin.delete(path));
    expect(await caller.get(own)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await admin.delete(path)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    const facts = await strongroom.auditRows(`project_id = $1 and action like 'project-membership:%'`, [project.id]);
    expect(facts.filter(({ facts: { memberKind } }) => memberKind === 'group').map(({ action }) => action)).toEqual(
      expect.arrayContaining(['create', 'update', 'delete'].map((verb) => `project-membership:${verb}`)),
    );
  });

  test('take roles in the form of replies: custom, beside the slug', async () => {
    const { admin, project, caller, path } = await scene();
    for (const slug of ['deployer', 'reader']) await makeRole(admin, project.id, slug, []);
    const custom = (customRoleSlug: unknown) => ({ role: 'custom', customRoleSlug });
    const added = mustSucceed(await admin.post(path, custom('deployer'))).body.groupMembership;
    expect(added.roles).toEqual([roleOf('custom', 'deployer')]);
    const roles = [roleOf('viewer'), custom('reader'), custom('deployer')];
    const changed = mustSucceed(await admin.patch(path, { roles })).body.groupMembership;
    expect(changed.roles).toEqual([roleOf('viewer'), roleOf('custom', 'reader'), roleOf('custom', 'deployer')]);
    expect(mustSucceed(await admin.patch(path, { roles: changed.roles })).body.groupMembership).toMatchObject({
      roles: changed.roles,
    });
    for (const unknown of [custom('none'), { role: 'custom' }, custom(null)])
      expect(await admin.patch(path, unknown)).toBeError(404, 'ROLE_NOT_FOUND');
    const faulty = await admin.patch(path, { roles: [custom('reader'), { role: 'reader' }, custom('No slug')] });
    expect(faulty).toBeError(422, 'VALIDATION_FAILED');
    expect(faulty.body.details.map(({ path: place }: { path: string }) => place).sort()).toEqual([
      'body.roles',
      'body.roles[2].customRoleSlug',
    ]);
    const odd = await admin.patch(path, custom(7));
    expect(odd.body.details).toMatchObject([{ path: 'body.customRoleSlug', code: 'INVALID_TYPE' }]);
    const membership = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
    const { roles: held } = mustSucceed(await admin.post(membership, custom('reader'))).body.identityMembership;
    expect(held).toMatchObject([{ role: 'reader' }]);
  });

  test('belong to the organization; others are as unknown as any', async () => {
    const { admin, list } = await scene();
    const { group: foreign } = await scene();
    const texts = [];
    for (const named of [foreign.id, foreign.slug, randomUUID(), 'none']) {
      const reply = await admin.post(`${list}/${named}`, { role: 'viewer' });
      expect(reply).toBeError(404, 'GROUP_NOT_FOUND');
      texts.push(reply.text.replace(reply.body.reqId, ''));
      expect(await admin.get(`${list}/${named}`)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    }
    expect(new Set(texts).size).toBe(1);
  });

  test('are not guessed by a name that two of them have', async () => {
    const { admin, group, list } = await scene();
    const { id } = await strongroom.seed.group(admin);
    await strongroom.sql('update member_group set name = $2 where id = $1', [id, group.name]);
    const named = `${list}/${encodeURIComponent(group.name)}`;
    expect(await admin.post(named, { role: 'viewer' })).toBeError(404, 'GROUP_NOT_FOUND');
    mustSucceed(await admin.post(`${list}/${group.slug}`, { role: 'viewer' }));
  });

  test('are under the rules of groups', async () => {
    const { admin, project, path, list } = await scene();
    const other = await strongroom.seed.group(admin);
    const role = (action: string, conditions?: object) => ({ subject: 'groups', action, conditions });
    await makeRole(admin, project.id, 'keeper', [
      { subject: 'groups', action: 'create' },
      role('read', { groupSlug: other.slug }),
      role('edit', { groupSlug: other.slug }),
      role('delete', { groupSlug: other.slug }),
    ]);
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const keeper = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['keeper'] });
    for (const reply of [await viewer.post(path, { role: 'no-access' }), await viewer.delete(path)])
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
    expect(await keeper.post(path, { role: 'viewer' })).toBeError(403, 'PERMISSION_BOUNDARY');
    for (const named of [path, `${list}/${other.id}`]) mustSucceed(await keeper.post(named, { role: 'no-access' }));
    expect(await keeper.get(path)).toBeError(403, 'PERMISSION_DENIED');
    expect(await keeper.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    expect(await keeper.patch(path, { role: 'no-access' })).toBeError(403, 'PERMISSION_DENIED');
    const slugs = (await keeper.get(list)).body.groupMemberships.map(({ groupId }: { groupId: string }) => groupId);
    expect(slugs).toEqual([other.id]);
    const document = `{ project(id: "${project.id}") { members { nodes { memberId memberKind } } } }`;
    expect((await keeper.data(document)).project.members.nodes).toEqual([{ memberId: other.id, memberKind: 'GROUP' }]);
    mustSucceed(await keeper.delete(`${list}/${other.slug}`));
    expect((await viewer.get(list)).body.groupMemberships).toHaveLength(1);
  });

  test('are members beside users and identities in GraphQL', async () => {
    const { admin, project, group } = await scene();
    const key = { projectId: project.id, memberKind: 'GROUP', memberId: group.id };
    const fields =
      'memberKind memberId name roleSlugs user { id } identity { id } group { slug } roleAssignments { roleSlug isActive role { slug } }';
    const add = `mutation ($input: AddProjectMemberInput!) { addProjectMember(input: $input) { membership { ${fields} } } }`;
    const { addProjectMember } = await admin.data(add, { input: { ...key, roles: ['viewer'] } });
    expect(addProjectMember.membership).toEqual({
      ...{
        memberKind: 'GROUP',
        memberId: group.id,
        name: group.name,
        roleSlugs: ['viewer'],
        user: null,
        group: { slug: group.slug },
        identity: null,
      },
      roleAssignments: [{ roleSlug: 'viewer', isActive: true, role: { slug: 'viewer' } }],
    });
    const list = `query ($id: ID!) { projectMemberships(projectId: $id, memberKind: GROUP) { nodes { memberId } } }`;
    expect((await admin.data(list, { id: project.id })).projectMemberships.nodes).toEqual([{ memberId: group.id }]);
    for (const roles of [{}, { roles: ['viewer'], roleAssignments: [{ roleSlug: 'viewer' }] }])
      expect(await admin.graphql(add, { input: { ...key, ...roles } })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('are never the last admin', async () => {
    const { admin, project, path } = await scene();
    mustSucceed(await admin.post(path, { role: 'admin' }));
    const own = `/api/v2/workspace/${project.id}/identity-memberships/${admin.identityId}`;
    expect(await admin.delete(own)).toBeError(409, 'LAST_ADMIN');
    expect(await admin.patch(own, { role: 'viewer' })).toBeError(409, 'LAST_ADMIN');
  });

  test('keep what a role of theirs forbids from being lifted by taking it away', async () => {
    const { admin, project, caller, path } = await scene();
    const edits = { subject: 'secrets', action: 'edit' };
    const manages = ['identity', 'groups'].map((subject) => ({ subject, action: ['create', 'edit', 'delete'] }));
    await makeRole(admin, project.id, 'manager', manages);
    await makeRole(admin, project.id, 'editor', [edits]);
    await makeRole(admin, project.id, 'no-editor', [{ ...edits, inverted: true }]);
    mustSucceed(await admin.post(path, { role: 'editor' }));
    const direct = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
    const manager = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['manager'] });
    expect(await manager.post(direct, { role: 'no-editor' })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.post(direct, { role: 'no-editor' }));
    expect(await manager.delete(direct)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.delete(path));
    mustSucceed(await manager.delete(direct));
  });

  test('join once, whoever adds them at the same moment', async () => {
    const { admin, path } = await scene();
    const replies = await Promise.all([admin.post(path, { role: 'viewer' }), admin.post(path, { role: 'member' })]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('leave the project with the organization', async () => {
    const { admin, group, caller, path, project } = await scene();
    mustSucceed(await admin.post(path, { role: 'viewer' }));
    await strongroom.sql('delete from organization_membership where group_id = $1', [group.id]);
    expect(await admin.get(path)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await caller.get(`/api/v1/projects/${project.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });
});
