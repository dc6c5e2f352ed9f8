import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { otherNodeInAll } from '../../kit/scope.js';
import { type OtherNode, useSharedStrongroom } from '../../kit/strongroom.js';

const GROUPS = '/api/v1/groups';

const strongroom = useSharedStrongroom();

interface Made {
  readonly id: string;
}

async function makeGroup(admin: Caller, role: string, ...members: readonly Caller[]): Promise<Made> {
  const group = mustSucceed(await admin.post(GROUPS, { name: `group-${randomUUID().slice(0, 8)}`, role })).body;
  for (const { identityId } of members)
    mustSucceed(await admin.post(`${GROUPS}/${group.id}/machine-identities/${identityId}`));
  return group;
}

const join = (caller: Caller, { id }: Made, member: Caller): Promise<Reply> =>
  caller.post(`${GROUPS}/${id}/machine-identities/${member.identityId}`);
const leave = (caller: Caller, { id }: Made, member: Caller): Promise<Reply> =>
  caller.delete(`${GROUPS}/${id}/machine-identities/${member.identityId}`);

const intoProject = (group: Made, project: Made, ...roles: readonly string[]) =>
  strongroom.sql(
    `insert into project_membership (id, organization_id, project_id, group_id, roles)
     select $1, organization_id, id, $2, $3 from project where id = $4`,
    [randomUUID(), group.id, roles, project.id],
  );

const subOrganization = async (admin: Caller): Promise<{ id: string; slug: string }> => {
  const name = `sub-${randomUUID().slice(0, 8)}`;
  const { createSubOrganization } = await admin.data(
    'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id slug } } }',
    { input: { name, slug: name } },
  );
  return createSubOrganization.organization;
};

const link = (caller: Caller, group: Made, organization: Made, roleSlug?: string): Promise<Reply> =>
  caller.graphql(
    `mutation ($input: LinkGroupInput!) { linkGroup(input: $input) {
      membership { roleSlug group { id } organization { id } } } }`,
    { input: { groupId: group.id, organizationId: organization.id, ...(roleSlug === undefined ? {} : { roleSlug }) } },
  );
const unlink = (caller: Caller, group: Made, organization: Made): Promise<Reply> =>
  caller.graphql('mutation ($input: UnlinkGroupInput!) { unlinkGroup(input: $input) { membership { roleSlug } } }', {
    input: { groupId: group.id, organizationId: organization.id },
  });

/** A token of an identity that is scoped to a sub-organization. */
const tokenFor = (admin: Caller, { identityId }: Caller, organizationSlug: string): Promise<Reply> =>
  admin.graphql('mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }', {
    input: { identityId, organizationSlug },
  });

/** Gives an identity a role of the organization's making, with these rules. */
async function giveRole(caller: Caller, permissions: readonly object[]): Promise<void> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  await strongroom.sql(
    `insert into organization_role (id, organization_id, slug, name, permissions)
     select $1, organization_id, $2, $2, $3 from identity where id = $4`,
    [randomUUID(), slug, JSON.stringify(permissions), caller.identityId],
  );
  await strongroom.sql('update organization_membership set role = $1 where identity_id = $2', [
    slug,
    caller.identityId,
  ]);
}

const missing = ({ body }: Reply): string[] =>
  (body.details ?? body.errors[0].extensions.details).map(
    ({ path, code }: Record<string, string>) => `${path}:${code}`,
  );

describe('the role of a group in its organization', () => {
  test('is that of its members from the next request on, and adds up with their own', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    const group = await makeGroup(admin, 'member');
    expect(await caller.get('/api/v1/identities')).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await join(admin, group, caller));
    expect((await caller.get('/api/v1/identities')).status).toBe(200);
    await giveRole(caller, [{ subject: 'identity', action: ['create'] }]);
    const made = { name: 'made', organizationId: organization.id };
    expect((await caller.post('/api/v1/identities', made)).status).toBe(200);
    expect((await caller.get('/api/v1/identities')).status).toBe(200);
    mustSucceed(await admin.patch(`${GROUPS}/${group.id}`, { role: 'no-access' }));
    expect(await caller.get('/api/v1/identities')).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await admin.patch(`${GROUPS}/${group.id}`, { role: 'member' }));
    expect((await caller.get('/api/v1/identities')).status).toBe(200);
    mustSucceed(await leave(admin, group, caller));
    expect(await caller.get('/api/v1/identities')).toBeError(403, 'PERMISSION_DENIED');
    expect((await caller.post('/api/v1/identities', made)).status).toBe(200);
  });

  test('of several groups adds up', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    const [one, two] = [await makeGroup(admin, 'member', caller), await makeGroup(admin, 'admin', caller)];
    expect((await caller.post(GROUPS, { name: 'x' })).status).toBe(200);
    mustSucceed(await admin.delete(`${GROUPS}/${two.id}`));
    expect(await caller.post(GROUPS, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await caller.get(GROUPS)).status).toBe(200);
    mustSucceed(await admin.delete(`${GROUPS}/${one.id}`));
    expect(await caller.get(GROUPS)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('keeps the organization no admin: the last one of its own stays', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    await makeGroup(admin, 'admin', caller, admin);
    for (const who of [admin, caller]) {
      expect(await who.patch(`/api/v1/identities/${admin.identityId}`, { role: 'member' })).toBeError(
        409,
        'LAST_ADMIN',
      );
      expect(await who.delete(`/api/v1/identities/${admin.identityId}`)).toBeError(409, 'LAST_ADMIN');
    }
    expect((await caller.delete(`/api/v1/identities/${caller.identityId}`)).status).toBe(200);
  });
});

describe('the roles of a group in a project', () => {
  test('are those of its members, and add up with their own', async () => {
    const { admin, project } = await strongroom.seed.project();
    const [caller, viewer] = [
      await strongroom.seed.caller(admin),
      await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] }),
    ];
    const group = await makeGroup(admin, 'no-access');
    await intoProject(group, project, 'member');
    const place = { projectId: project.id, environment: 'dev' };
    expect(await caller.post('/api/v4/secrets/ONE', place)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await viewer.post('/api/v4/secrets/TWO', place)).toBeError(403, 'PERMISSION_DENIED');
    for (const each of [caller, viewer]) mustSucceed(await join(admin, group, each));
    expect((await caller.post('/api/v4/secrets/ONE', place)).status).toBe(200);
    expect((await viewer.post('/api/v4/secrets/TWO', place)).status).toBe(200);
    const { projects } = await caller.data('{ projects { nodes { id } } }');
    expect(projects.nodes).toEqual([{ id: project.id }]);
    mustSucceed(await admin.delete(`${GROUPS}/${group.id}`));
    expect(await caller.post('/api/v4/secrets/THREE', place)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await viewer.post('/api/v4/secrets/THREE', place)).toBeError(403, 'PERMISSION_DENIED');
    expect((await viewer.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`)).status).toBe(200);
  });

  describe('on two nodes', () => {
    let other: OtherNode;
    beforeAll(async () => {
      other = await otherNodeInAll(strongroom);
    });

    test.each([
      ['it is removed', (admin: Caller, group: Made, member: Caller) => leave(admin, group, member)],
      ['the group is deleted', (admin: Caller, group: Made) => admin.delete(`${GROUPS}/${group.id}`)],
    ])('end at the next request after %s, whatever replies are kept', async (_, end) => {
      const { admin, project } = await strongroom.seed.project();
      const member = await strongroom.seed.caller(admin);
      const group = await makeGroup(admin, 'no-access', member);
      await intoProject(group, project, 'viewer');
      await admin.post('/api/v4/secrets/KEY', { projectId: project.id, environment: 'dev', secretValue: 'kept' });
      const list = `/api/v4/secrets?projectId=${project.id}&environment=dev`;
      for (const url of [strongroom.url, other.url, strongroom.url, other.url])
        expect(mustSucceed(await member.at(url).get(list)).body.secrets).toHaveLength(1);
      const etag = String((await member.get(list)).headers.etag);
      mustSucceed(await end(admin, group, member));
      for (const url of [other.url, strongroom.url]) {
        expect(await member.at(url).get(list)).toBeError(404, 'PROJECT_NOT_FOUND');
        expect(await member.at(url).get(list, { 'if-none-match': etag })).toBeError(404, 'PROJECT_NOT_FOUND');
      }
    });
  });
});

describe('a group of a root organization in a sub-organization', () => {
  test('gives its members tokens for it that pass while it is linked, and rights by its role there', async () => {
    const { admin } = await strongroom.seed.organization();
    const sub = await subOrganization(admin);
    const member = await strongroom.seed.caller(admin);
    const group = await makeGroup(admin, 'no-access', member);
    expect(await tokenFor(admin, member, sub.slug)).toBeError(401, 'TOKEN_SCOPE_REFUSED');
    expect((await link(admin, group, sub, 'member')).body.data.linkGroup.membership).toEqual({
      roleSlug: 'member',
      group: { id: group.id },
      organization: { id: sub.id },
    });
    const { accessToken } = mustSucceed(await tokenFor(admin, member, sub.slug)).body.data.createAccessToken;
    const below = new Caller(strongroom.url, accessToken, member.identityId);
    expect((await below.get(GROUPS)).body).toMatchObject([{ id: group.id, role: 'member' }]);
    mustSucceed(await link(admin, group, sub, 'no-access'));
    expect(await below.get(GROUPS)).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await link(admin, group, sub, 'admin'));
    expect((await below.post(GROUPS, { name: 'own' })).status).toBe(200);
    mustSucceed(await unlink(admin, group, sub));
    expect(await below.get(GROUPS)).toBeError(401, 'TOKEN_SCOPE_REFUSED');
    expect(await unlink(admin, group, sub)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    mustSucceed(await link(admin, group, sub, 'member'));
    expect((await below.get(GROUPS)).status).toBe(200);
    mustSucceed(await leave(admin, group, member));
    expect(await below.get(GROUPS)).toBeError(401, 'TOKEN_SCOPE_REFUSED');
  });

  test('is read there and changed by the root only, and its siblings learn nothing', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const [sub, sibling] = [await subOrganization(admin), await subOrganization(admin)];
    const group = await makeGroup(admin, 'member');
    mustSucceed(await link(admin, group, sub, 'no-access'));
    const callerOf = async (slug: string): Promise<Caller> => {
      const reply = mustSucceed(await tokenFor(admin, admin, slug));
      return new Caller(admin.url, reply.body.data.createAccessToken.accessToken);
    };
    const [below, beside] = [await callerOf(sub.slug), await callerOf(sibling.slug)];
    const links =
      'query ($id: ID!) { group(id: $id) { roleSlug organizationMemberships { nodes { organizationId } } } }';
    const fromRoot = (await admin.data(links, { id: group.id })).group;
    expect(fromRoot.roleSlug).toBe('member');
    expect(
      fromRoot.organizationMemberships.nodes
        .map(({ organizationId }: { organizationId: string }) => organizationId)
        .sort(),
    ).toEqual([organization.id, sub.id].sort());
    expect((await below.data(links, { id: group.id })).group).toEqual({
      roleSlug: 'no-access',
      organizationMemberships: { nodes: [{ organizationId: sub.id }] },
    });
    expect(await below.patch(`${GROUPS}/${group.id}`, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await below.delete(`${GROUPS}/${group.id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await join(below, group, admin)).toBeError(403, 'PERMISSION_DENIED');
    expect((await beside.get(GROUPS)).body).toEqual([]);
    expect(await beside.get(`${GROUPS}/${group.id}`)).toBeError(404, 'GROUP_NOT_FOUND');
    expect(await beside.get(`${GROUPS}/${group.id}/users`)).toBeError(404, 'GROUP_NOT_FOUND');
    const [{ id: linkId } = { id: '' }] = await strongroom.sql<{ id: string }>(
      'select id from organization_membership where group_id = $1 and organization_id = $2',
      [group.id, sub.id],
    );
    const { nodes } = await beside.data('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: [group.id, linkId],
    });
    expect(nodes).toEqual([null, null]);
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    expect((await member.data(links, { id: group.id })).group.organizationMemberships.nodes).toEqual([
      { organizationId: organization.id },
    ]);
  });

  test('is linked by who may change groups and sub-organizations, in organizations of its own root', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const [sub, foreign] = [await subOrganization(one.admin), await subOrganization(two.admin)];
    const group = await makeGroup(one.admin, 'no-access');
    for (const id of [foreign.id, two.organization.id, one.organization.id, randomUUID(), 'no-uuid']) {
      expect(await link(one.admin, group, { id })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
      expect(await unlink(one.admin, group, { id })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
    }
    expect(await link(two.admin, group, foreign)).toBeError(404, 'GROUP_NOT_FOUND');
    expect(await link(one.admin, group, sub, 'nothing')).toBeError(404, 'ROLE_NOT_FOUND');
    for (const [subject, action] of [
      ['groups', 'edit'],
      ['sub-organization', 'edit'],
    ] as const) {
      const caller = await strongroom.seed.caller(one.admin);
      await giveRole(caller, [{ subject, action: [action] }]);
      expect(await link(caller, group, sub)).toBeError(403, 'PERMISSION_DENIED');
      expect(await unlink(caller, group, sub)).toBeError(403, 'PERMISSION_DENIED');
    }
    const both = await strongroom.seed.caller(one.admin);
    await giveRole(both, [
      { subject: 'groups', action: ['edit', 'read'] },
      { subject: 'sub-organization', action: ['edit'] },
      { subject: 'organization', action: ['read'] },
    ]);
    mustSucceed(await link(one.admin, group, sub, 'admin'));
    expect(await unlink(both, group, sub)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await link(both, group, sub, 'no-access')).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await link(one.admin, group, sub, 'no-access'));
    expect(await link(both, group, sub, 'member')).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await unlink(both, group, sub)).body.errors).toBeUndefined();
    expect((await link(both, group, sub)).body.errors).toBeUndefined();
  });

  test('leaves with its projects when it is linked no more, also for two who unlink it at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const sub = await subOrganization(admin);
    const group = await makeGroup(admin, 'no-access');
    mustSucceed(await link(admin, group, sub));
    const scoped = mustSucceed(await tokenFor(admin, admin, sub.slug)).body.data.createAccessToken.accessToken;
    const below = new Caller(admin.url, scoped);
    const project = await strongroom.seed.projectOf(below);
    await intoProject(group, project, 'viewer');
    const replies = await Promise.all([unlink(admin, group, sub), unlink(admin, group, sub)]);
    expect(replies.filter(({ body }) => body.errors === undefined)).toHaveLength(1);
    expect(await strongroom.sql('select from project_membership where group_id = $1', [group.id])).toHaveLength(0);
  });
});

describe('whoever takes somebody into a group', () => {
  const ADD = { subject: 'groups', action: ['read', 'add-identities', 'remove-identities'] };

  test('has what the role of the group allows', async () => {
    const { admin } = await strongroom.seed.organization();
    const [caller, member] = [await strongroom.seed.caller(admin), await strongroom.seed.caller(admin)];
    await giveRole(caller, [ADD]);
    const group = await makeGroup(admin, 'admin');
    const refused = await join(caller, group, member);
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(missing(refused)).toContain('organization:delete');
    expect(missing(refused)).not.toContain('groups:read');
    mustSucceed(await join(admin, group, member));
    expect(await leave(caller, group, member)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await leave(admin, group, member));
    mustSucceed(await admin.patch(`${GROUPS}/${group.id}`, { role: 'no-access' }));
    expect((await join(caller, group, member)).status).toBe(200);
    expect((await leave(caller, group, member)).status).toBe(200);
  });

  test('has what its role in a linked organization allows', async () => {
    const { admin } = await strongroom.seed.organization();
    const sub = await subOrganization(admin);
    const [caller, member] = [await strongroom.seed.caller(admin), await strongroom.seed.caller(admin)];
    await giveRole(caller, [ADD]);
    const group = await makeGroup(admin, 'no-access');
    mustSucceed(await link(admin, group, sub, 'member'));
    expect(await join(caller, group, member)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await unlink(admin, group, sub));
    expect((await join(caller, group, member)).status).toBe(200);
  });

  test('has what its roles in each project allow there itself, admin of the organization or not', async () => {
    const { admin, project } = await strongroom.seed.project();
    const [caller, member] = [
      await strongroom.seed.caller(admin, { organizationRole: 'admin' }),
      await strongroom.seed.caller(admin),
    ];
    const group = await makeGroup(admin, 'no-access');
    await intoProject(group, project, 'viewer');
    const refused = await join(caller, group, member);
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(missing(refused)).toContain('secrets:readValue');
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.post(path, { role: 'no-access' }));
    expect(await join(caller, group, member)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(path, { role: 'viewer' }));
    expect((await join(caller, group, member)).status).toBe(200);
    mustSucceed(await leave(caller, group, member));
    await strongroom.sql(`update project_membership set roles = '{viewer,member}' where group_id = $1`, [group.id]);
    expect(missing(await join(caller, group, member))).toContain('secrets:create');
    mustSucceed(await admin.patch(path, { role: 'admin' }));
    expect((await join(caller, group, member)).status).toBe(200);
  });

  test('has it in the projects of linked organizations, whatever its token is scoped to', async () => {
    const { admin } = await strongroom.seed.organization();
    const sub = await subOrganization(admin);
    const scoped = mustSucceed(await tokenFor(admin, admin, sub.slug)).body.data.createAccessToken.accessToken;
    const project = await strongroom.seed.projectOf(new Caller(admin.url, scoped));
    const [colleague, member] = [
      await strongroom.seed.caller(admin, { organizationRole: 'admin' }),
      await strongroom.seed.caller(admin),
    ];
    const group = await makeGroup(admin, 'no-access');
    mustSucceed(await link(admin, group, sub));
    await intoProject(group, project, 'viewer');
    expect(await join(colleague, group, member)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await join(admin, group, member)).status).toBe(200);
  });

  test('gives a group no role beyond its own rights, and takes none', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    await giveRole(caller, [{ subject: 'groups', action: ['read', 'create', 'edit', 'delete'] }]);
    expect(await caller.post(GROUPS, { name: 'x', role: 'member' })).toBeError(403, 'PERMISSION_BOUNDARY');
    const own = (await caller.post(GROUPS, { name: 'x' })).body;
    const group = await makeGroup(admin, 'admin');
    expect(await caller.patch(`${GROUPS}/${own.id}`, { role: 'member' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.patch(`${GROUPS}/${group.id}`, { role: 'no-access' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.delete(`${GROUPS}/${group.id}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await caller.patch(`${GROUPS}/${group.id}`, { name: 'renamed' })).status).toBe(200);
    expect((await caller.delete(`${GROUPS}/${own.id}`)).status).toBe(200);
  });

  test('takes the admin of the installation into none, unless it is that', async () => {
    await strongroom.seed.withInstallationAdmin(async ({ admin }) => {
      const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
      const group = await makeGroup(colleague, 'no-access');
      expect(await join(colleague, group, admin)).toBeError(403, 'PERMISSION_DENIED');
      expect((await join(admin, group, admin)).status).toBe(200);
    });
  });
});
