import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const GROUPS = '/api/v1/groups';

const strongroom = useSharedStrongroom();

/** A role that an organization made, in the table: `permissions` as they are stored. */
async function makeRole(organizationId: string, slug: string, permissions: readonly object[]): Promise<string> {
  const id = randomUUID();
  await strongroom.sql(
    'insert into organization_role (id, organization_id, slug, name, permissions) values ($1, $2, $3, $3, $4)',
    [id, organizationId, slug, JSON.stringify(permissions)],
  );
  return id;
}

/** Somebody whose only role is of the organization's making. */
async function callerIn(admin: Caller, organizationId: string, permissions: readonly object[]): Promise<Caller> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  await makeRole(organizationId, slug, permissions);
  const caller = await strongroom.seed.caller(admin);
  await strongroom.sql('update organization_membership set role = $1 where identity_id = $2', [
    slug,
    caller.identityId,
  ]);
  return caller;
}

describe('groups', () => {
  test('are made, read, listed by name, changed and deleted', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const made = (await admin.post(GROUPS, { name: ' Web team ', slug: 'web', role: 'member' })).body;
    expect(made).toEqual({
      id: expect.any(String),
      orgId: organization.id,
      name: 'Web team',
      slug: 'web',
      role: 'member',
      roleId: null,
      customRoleSlug: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await admin.get(`${GROUPS}/${made.id}`)).body).toEqual(made);
    const changed = (await admin.patch(`${GROUPS}/${made.id}`, { name: 'Web', slug: 'web-team', role: 'admin' })).body;
    expect(changed).toEqual({
      ...made,
      name: 'Web',
      slug: 'web-team',
      role: 'admin',
      updatedAt: expect.any(String),
    });
    const renamed = await admin.data(
      'mutation ($input: UpdateGroupInput!) { updateGroup(input: $input) { group { name roleSlug } } }',
      { input: { id: made.id, roleSlug: 'no-access' } },
    );
    expect(renamed.updateGroup.group).toEqual({ name: 'Web', roleSlug: 'no-access' });
    mustSucceed(await admin.patch(`${GROUPS}/${made.id}`, { role: 'admin' }));
    const other = (await admin.post(GROUPS, { name: 'Ops' })).body;
    expect(other.role).toBe('no-access');
    const again = { ...changed, updatedAt: expect.any(String) };
    expect((await admin.get(GROUPS)).body).toEqual([other, again]);
    expect((await admin.delete(`${GROUPS}/${made.id}`)).body).toEqual(again);
    expect(await admin.get(`${GROUPS}/${made.id}`)).toBeError(404, 'GROUP_NOT_FOUND');
    expect((await admin.get(GROUPS)).body).toEqual([other]);
  });

  test('are paged in GraphQL', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const name of ['c', 'a', 'b']) await admin.post(GROUPS, { name });
    const page = async (after: string | null) =>
      (
        await admin.data(
          'query ($after: String) { groups(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } }',
          { after },
        )
      ).groups;
    const first = await page(null);
    expect(first).toMatchObject({ nodes: [{ name: 'a' }, { name: 'b' }], pageInfo: { hasNextPage: true } });
    expect(await page(first.pageInfo.endCursor)).toMatchObject({
      nodes: [{ name: 'c' }],
      pageInfo: { hasNextPage: false },
    });
  });

  test('have a slug that is made of the name when none is given, and unique in the organization', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    expect((await one.admin.post(GROUPS, { name: 'Équipe Web!' })).body.slug).toMatch(/^equipe-web-[a-z0-9]{4}$/);
    await one.admin.post(GROUPS, { name: 'Web', slug: 'web' });
    expect(await one.admin.post(GROUPS, { name: 'Other', slug: 'web' })).toBeError(409, 'GROUP_SLUG_TAKEN');
    const other = (await one.admin.post(GROUPS, { name: 'Other', slug: 'other' })).body;
    expect(await one.admin.patch(`${GROUPS}/${other.id}`, { slug: 'web' })).toBeError(409, 'GROUP_SLUG_TAKEN');
    expect((await two.admin.post(GROUPS, { name: 'Web', slug: 'web' })).status).toBe(200);
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => two.admin.post(GROUPS, { name: 'X', slug: 'one' })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
  });

  test('of wrong input tell all faults at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(GROUPS, { name: '', slug: 'Not A Slug', role: 'NO' });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.name',
      'body.slug',
      'body.role',
    ]);
  });

  test('can have a role that the organization made, and none that it did not', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const roleId = await makeRole(organization.id, 'auditor', [{ subject: 'audit-logs', action: ['read'] }]);
    const made = (await admin.post(GROUPS, { name: 'Auditors', role: 'auditor' })).body;
    expect(made).toMatchObject({ role: 'custom', roleId, customRoleSlug: 'auditor' });
    const { group } = await admin.data('query ($id: ID!) { group(id: $id) { roleSlug roleId } }', { id: made.id });
    expect(group).toEqual({ roleSlug: 'auditor', roleId });
    expect(await admin.post(GROUPS, { name: 'X', role: 'nothing' })).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await admin.patch(`${GROUPS}/${made.id}`, { role: 'nothing' })).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('are read by members and changed by admins only', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = (await admin.post(GROUPS, { name: 'Web' })).body;
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const nobody = await strongroom.seed.caller(admin);
    expect((await member.get(`${GROUPS}/${id}`)).status).toBe(200);
    expect((await member.get(GROUPS)).body).toHaveLength(1);
    expect(await member.post(GROUPS, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.patch(`${GROUPS}/${id}`, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.delete(`${GROUPS}/${id}`)).toBeError(403, 'PERMISSION_DENIED');
    for (const any of [id, randomUUID()]) {
      expect(await nobody.get(`${GROUPS}/${any}`)).toBeError(403, 'PERMISSION_DENIED');
    }
    expect(await nobody.get(GROUPS)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('of another organization are not found, as unknown ones', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const foreign = (await two.admin.post(GROUPS, { name: 'Web' })).body.id;
    for (const id of [foreign, randomUUID(), 'no-uuid']) {
      expect(await one.admin.get(`${GROUPS}/${id}`)).toBeError(404, 'GROUP_NOT_FOUND');
      expect(await one.admin.patch(`${GROUPS}/${id}`, { name: 'x' })).toBeError(404, 'GROUP_NOT_FOUND');
      expect(await one.admin.delete(`${GROUPS}/${id}`)).toBeError(404, 'GROUP_NOT_FOUND');
    }
  });

  test('that rules leave out are not there, and no rule is left by another slug', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const [web, ops] = [
      (await admin.post(GROUPS, { name: 'Web', slug: 'web' })).body,
      (await admin.post(GROUPS, { name: 'Ops', slug: 'ops' })).body,
    ];
    const caller = await callerIn(admin, organization.id, [
      { subject: 'groups', action: ['read', 'edit', 'create'], conditions: { groupSlug: { $glob: 'web*' } } },
    ]);
    expect((await caller.get(GROUPS)).body.map(({ slug }: { slug: string }) => slug)).toEqual(['web']);
    expect((await caller.get(`${GROUPS}/${web.id}`)).status).toBe(200);
    expect(await caller.get(`${GROUPS}/${ops.id}`)).toBeError(404, 'GROUP_NOT_FOUND');
    expect(await caller.patch(`${GROUPS}/${ops.id}`, { name: 'x' })).toBeError(404, 'GROUP_NOT_FOUND');
    expect(await caller.post(GROUPS, { name: 'x', slug: 'any' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.patch(`${GROUPS}/${web.id}`, { slug: 'ops-two' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await caller.patch(`${GROUPS}/${web.id}`, { slug: 'web-two' })).status).toBe(200);
    const { node } = await caller.data('query ($id: ID!) { node(id: $id) { id } }', { id: ops.id });
    expect(node).toBeNull();
  });

  test('are nodes', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const { id } = (await admin.post(GROUPS, { name: 'Web', role: 'member' })).body;
    const { node } = await admin.data(
      `query ($id: ID!) { node(id: $id) { ... on Group { name organization { id }
        organizationMemberships { nodes { id roleSlug group { id } organization { id } } } } } }`,
      { id },
    );
    expect(node).toEqual({
      name: 'Web',
      organization: { id: organization.id },
      organizationMemberships: {
        nodes: [{ id: expect.any(String), roleSlug: 'member', group: { id }, organization: { id: organization.id } }],
      },
    });
    const link = await admin.data(
      'query ($id: ID!) { node(id: $id) { __typename ... on GroupOrganizationMembership { roleSlug } } }',
      { id: node.organizationMemberships.nodes[0].id },
    );
    expect(link.node).toEqual({ __typename: 'GroupOrganizationMembership', roleSlug: 'member' });
    const { organizationMembers } = await admin.data('{ organizationMembers { nodes { memberKind } } }');
    expect(organizationMembers.nodes).toEqual([{ memberKind: 'IDENTITY' }]);
  });
});
