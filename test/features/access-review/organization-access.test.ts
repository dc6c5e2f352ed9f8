import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const EXPLAIN = `query ($subject: OrganizationPermissionSubject!, $action: PermissionAction!, $fields: AccessFieldsInput, $userId: ID, $identityId: ID) {
  explainOrganizationAccess(subject: $subject, action: $action, fields: $fields, userId: $userId, identityId: $identityId) {
    isAllowed isMember rule { subject inverted conditions { groupSlug { glob } } }
    origin { roleSlug membership { memberId } groupMemberships { groupId } }
  }
}`;
const CAN = 'query ($checks: [OrganizationAccessCheckInput!]!) { canInOrganization(checks: $checks) { allowed } }';
const EDIT_GROUPS = { subject: 'GROUPS', action: 'EDIT' };

async function role(admin: Caller, ...permissions: readonly GivenRule[]): Promise<string> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  mustSucceed(await admin.post('/api/v1/organization/roles', { slug, name: slug, permissions }));
  return slug;
}

const give = (admin: Caller, identityId: string, roleSlug: string) =>
  admin.data('mutation ($input: UpdateIdentityInput!) { updateIdentity(input: $input) { identity { id } } }', {
    input: { id: identityId, roleSlug },
  });

async function scene() {
  const { admin } = await strongroom.seed.organization();
  const caller = await strongroom.seed.caller(admin);
  const explain = async (asked: object, by: Caller = admin) =>
    (await by.data(EXPLAIN, { ...EDIT_GROUPS, ...asked })).explainOrganizationAccess;
  return { admin, caller, identityId: caller.identityId, explain };
}

describe('why somebody may do something in an organization', () => {
  test('names the rule, the role, and the membership that gives it, of its own or of a group', async () => {
    const { admin, caller, identityId, explain } = await scene();
    const nothing = { isAllowed: false, isMember: true, rule: null, origin: null };
    expect(await explain({ identityId })).toEqual(nothing);

    const allowing = await role(admin, { subject: 'groups', action: 'edit' });
    await give(admin, identityId, allowing);
    const allowed = { subject: 'GROUPS', inverted: false, conditions: null };
    const own = { roleSlug: allowing, membership: { memberId: identityId }, groupMemberships: [] };
    expect(await explain({ identityId })).toEqual({ isAllowed: true, isMember: true, rule: allowed, origin: own });

    const forbidding = await role(admin, {
      subject: 'groups',
      action: 'edit',
      inverted: true,
      conditions: { groupSlug: { $glob: 'ops-*' } },
    });
    const group = await strongroom.seed.group(admin, caller);
    mustSucceed(await admin.patch(`/api/v1/groups/${group.id}`, { role: forbidding }));
    const forbidden = { subject: 'GROUPS', inverted: true, conditions: { groupSlug: { glob: 'ops-*' } } };
    const byGroup = { roleSlug: forbidding, membership: null, groupMemberships: [{ groupId: group.id }] };
    expect(await explain({ identityId, fields: { groupSlug: 'ops-eu' } })).toEqual({
      isAllowed: false,
      isMember: true,
      rule: forbidden,
      origin: byGroup,
    });
    expect(await explain({ identityId, fields: { groupSlug: 'dev' } })).toMatchObject({ isAllowed: true, origin: own });
    expect(await explain({ identityId, action: 'DELETE' })).toEqual(nothing);
    expect(await explain({ fields: { groupSlug: 'dev' } })).toMatchObject({ origin: { roleSlug: 'admin' } });
  });

  test('is told of oneself without any right, and of others to who may read them and roles', async () => {
    const { admin, caller, identityId } = await scene();
    const scalars = EXPLAIN.replace(/origin.*/, 'origin { roleSlug }');
    expect((await caller.data(scalars, EDIT_GROUPS)).explainOrganizationAccess).toMatchObject({ isAllowed: false });
    const about = { ...EDIT_GROUPS, identityId: admin.identityId };
    for (const slug of [
      await role(admin, { subject: 'role', action: 'read' }),
      await role(admin, { subject: 'identity', action: 'read' }),
    ]) {
      await give(admin, identityId, slug);
      expect(await caller.graphql(scalars, about)).toBeError(403, 'PERMISSION_DENIED');
      expect(await caller.graphql(CAN, { checks: [about] })).toBeError(403, 'PERMISSION_DENIED');
    }
    expect(await admin.graphql(EXPLAIN, { ...EDIT_GROUPS, subject: 'SETTINGS', action: 'DELETE' })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
  });

  test('counts the word for all assignments as the right to give roles, as whoever gives them is judged', async () => {
    const { admin, caller, identityId, explain } = await scene();
    await give(admin, identityId, await role(admin, { subject: 'identity', action: 'grant-privileges' }));
    const asked = { subject: 'IDENTITY', action: 'ASSIGN_ROLE' };
    expect(await explain({ ...asked, identityId })).toMatchObject({ isAllowed: true });
    expect((await caller.data(CAN, { checks: [asked] })).canInOrganization.allowed).toEqual([true]);
  });

  test('is not told of a machine identity as if it were a user', async () => {
    const { admin, caller, identityId } = await scene();
    const slug = await role(admin, { subject: 'role', action: 'read' }, { subject: 'member', action: 'read' });
    await give(admin, identityId, slug);
    const about = { ...EDIT_GROUPS, userId: admin.identityId };
    const scalars = EXPLAIN.replace(/origin.*/, 'origin { roleSlug }');
    expect((await caller.data(scalars, about)).explainOrganizationAccess).toMatchObject({
      isMember: false,
      rule: null,
    });
    expect((await caller.data(CAN, { checks: [about] })).canInOrganization.allowed).toEqual([false]);
  });

  test('is not told of members of other organizations, and of identities that a project owns', async () => {
    const { explain, admin } = await scene();
    const { admin: stranger } = await strongroom.seed.organization();
    const project = await strongroom.seed.projectOf(admin);
    const { identity } = mustSucceed(
      await admin.post('/api/v1/identities', { name: 'owned', projectId: project.id, role: 'no-access' }),
    ).body;
    for (const identityId of [stranger.identityId, identity.id, randomUUID(), 'none'])
      expect(await explain({ identityId })).toMatchObject({ isMember: false, isAllowed: false });
  });
});

test('many questions about an organization take as many statements for many people as for one', async () => {
  const { admin, caller } = await scene();
  const slug = await role(admin, { subject: 'groups', action: 'edit', conditions: { groupSlug: '{{identity.id}}' } });
  const others = await Promise.all([1, 2, 3].map(() => strongroom.seed.caller(admin, { organizationRole: 'admin' })));
  const user = await strongroom.seed.user(admin);
  await give(admin, caller.identityId, slug);
  const permissions = [{ subject: 'GROUPS', action: ['EDIT'], conditions: { groupSlug: { is: 'ops' } } }];
  const checks = [
    { ...EDIT_GROUPS, identityId: caller.identityId, fields: { groupSlug: caller.identityId } },
    { ...EDIT_GROUPS, identityId: caller.identityId, fields: { groupSlug: 'ops' } },
    ...others.map(({ identityId }) => ({ ...EDIT_GROUPS, identityId })),
    { ...EDIT_GROUPS, userId: user.userId },
    EDIT_GROUPS,
    { ...EDIT_GROUPS, permissions, fields: { groupSlug: 'ops' } },
    { ...EDIT_GROUPS, permissions, fields: { groupSlug: 'dev' } },
  ];
  const ask = (asked: readonly object[]) => strongroom.statements(() => admin.data(CAN, { checks: asked }));
  const two = await ask([checks[5], checks[0]] as object[]);
  const all = await ask(checks);
  expect(two.result.canInOrganization.allowed).toEqual([false, true]);
  expect(all.result.canInOrganization.allowed).toEqual([true, false, true, true, true, false, true, true, false]);
  expect(all.count).toBe(two.count);
});

test('questions about a thousand long patterns are answered', async () => {
  const { caller } = await scene();
  const glob = `*${'a'.repeat(40)}{${[...'bcdefghijklmnopqrst'].join(',')}}*x`;
  const permissions = Array.from({ length: 100 }, (_, at) => ({
    subject: 'MEMBER',
    action: ['ASSIGN_ROLE'],
    conditions: { username: { glob: `${glob}${at}` } },
  }));
  const asked = (username: string) => ({
    subject: 'MEMBER',
    action: 'ASSIGN_ROLE',
    fields: { username },
    permissions,
  });
  const checks = [...Array(9).fill(asked('a'.repeat(255))), asked(`${'a'.repeat(50)}t-x99`)];
  const { canInOrganization: answer } = await caller.data(CAN, { checks });
  expect(answer.allowed).toEqual([...Array(9).fill(false), true]);
});
