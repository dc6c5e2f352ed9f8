import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupWith, organizationCaller, organizationRole, word } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const READ = { subject: 'kms', action: ['read'] };
const ROLES = '/api/v1/organization/roles';

/** An organization with a role to be handed on, and one that is not. */
async function scene() {
  const { admin } = await strongroom.seed.organization();
  const [deployer, other] = [await organizationRole(admin, READ), await organizationRole(admin, READ)];
  return { admin, deployer, other };
}

const mutate = (caller: Caller, field: string, input: object): Promise<Reply> =>
  caller.graphql(
    `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`,
    { input },
  );

const makeUser = async (admin: Caller): Promise<{ id: string; username: string }> => {
  const { createUser } = await admin.data(
    'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username } } }',
    { input: { username: word('user'), roleSlug: 'no-access' } },
  );
  return createUser.user;
};

/** What somebody can be handed a role as: how it is made, which rules find it, and how its role changes. */
const KINDS = [
  ['a machine identity', 'identity', 'updateIdentity', { identityId: 'id' }],
  ['a user', 'member', 'updateUser', { username: 'username' }],
  ['a group', 'groups', 'updateGroup', { groupSlug: 'slug' }],
] as const;

async function make(admin: Caller, kind: string): Promise<Record<string, string>> {
  if (kind === 'identity') return { id: String((await strongroom.seed.caller(admin)).identityId) };
  if (kind === 'member') return makeUser(admin);
  const id = await groupWith(admin, 'no-access');
  return { id, slug: mustSucceed(await admin.get(`/api/v1/groups/${id}`)).body.slug };
}

describe.each(KINDS)('whoever may hand on a role of the organization to %s', (_, subject, field, by) => {
  const [[condition = '', key = ''] = []] = Object.entries(by);

  test('gives and takes that role, and no other, to that one, and changes nothing else of it', async () => {
    const { admin, deployer, other } = await scene();
    const [one, two] = [await make(admin, subject), await make(admin, subject)];
    const conditions = { role: deployer, [condition]: String(one[key]) };
    const caller = await organizationCaller(
      strongroom,
      admin,
      READ,
      { subject, action: ['read'] },
      { subject, action: ['assign-role'], conditions },
    );
    const give = (to: Record<string, string>, roleSlug: string, more = {}) =>
      mutate(caller, field, { id: to.id, roleSlug, ...more });

    expect((await give(one, deployer)).body.errors).toBeUndefined();
    expect(await give(one, other)).toBeError(403, 'PERMISSION_DENIED');
    expect(await give(two, deployer)).toBeError(403, 'PERMISSION_DENIED');
    const name = subject === 'member' ? { username: word('user') } : { name: 'other' };
    expect(await give(one, deployer, name)).toBeError(403, 'PERMISSION_DENIED');
    expect(await mutate(caller, field, { id: one.id, ...name })).toBeError(403, 'PERMISSION_DENIED');
    expect((await give(one, 'no-access')).body.errors).toBeUndefined();
    mustSucceed(await mutate(admin, field, { id: one.id, roleSlug: other }));
    expect(await give(one, deployer)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('does so within its own rights', async () => {
    const { admin, deployer } = await scene();
    const one = await make(admin, subject);
    const caller = await organizationCaller(strongroom, admin, { subject, action: ['read', 'assign-role'] });
    expect(await mutate(caller, field, { id: one.id, roleSlug: deployer })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await mutate(caller, field, { id: one.id, roleSlug: 'admin' })).toBeError(403, 'PERMISSION_BOUNDARY');
  });
});

test('whoever may hand on a role of the organization does so by the membership too, and leaves its end', async () => {
  const { admin, deployer, other } = await scene();
  const { identityId } = await strongroom.seed.caller(admin);
  const conditions = { role: deployer, identityId: String(identityId) };
  const reading = { subject: 'identity', action: ['read'] };
  const assigning = { subject: 'identity', action: ['assign-role'], conditions };
  const member = { subject: 'member', action: ['read'] };
  const caller = await organizationCaller(strongroom, admin, READ, member, reading, assigning);
  const { organizationMembers } = await admin.data('{ organizationMembers { nodes { id memberId } } }');
  const { id } = organizationMembers.nodes.find(({ memberId }: { memberId: string }) => memberId === identityId);
  const give = (more: object) => mutate(caller, 'updateOrganizationMember', { id, ...more });

  mustSucceed(await give({ roleSlug: deployer }));
  expect(await give({ roleSlug: other })).toBeError(403, 'PERMISSION_DENIED');
  for (const endsAt of ['2100-01-01T00:00:00Z', null])
    for (const more of [{ endsAt }, { endsAt, roleSlug: deployer }])
      expect(await give(more)).toBeError(403, 'PERMISSION_DENIED');
  mustSucceed(await give({ roleSlug: 'no-access' }));
});

describe('a rule of the organization about members or machine identities', () => {
  test.each(['member', 'identity'])('has conditions with assign-role alone: %s', async (subject) => {
    const { admin } = await strongroom.seed.organization();
    const conditions = subject === 'member' ? { username: 'ann' } : { identityId: 'x' };
    const post = (action: string[]) =>
      admin.post(ROLES, { slug: word('role'), name: 'X', permissions: [READ, { subject, action, conditions }] });
    mustSucceed(await post(['assign-role']));
    for (const action of [['edit'], ['assign-role', 'delete'], ['grant-privileges']]) {
      const refused = await post(action);
      expect(refused).toBeError(422, 'VALIDATION_FAILED');
      expect(refused.body.details.map(({ path }: { path: string }) => path)).toEqual([
        'body.permissions[1].conditions',
      ]);
    }
  });

  test('allows nothing, or forbids all, where an older one has conditions with something else', async () => {
    const { admin } = await strongroom.seed.organization();
    const [one, two] = [await strongroom.seed.caller(admin), await strongroom.seed.caller(admin)];
    const caller = await organizationCaller(strongroom, admin, { subject: 'identity', action: ['read'] });
    const rename = async () => (await caller.patch(`/api/v1/identities/${one.identityId}`, { name: 'x' })).status;
    const store = (...permissions: object[]) =>
      strongroom.sql(
        `update organization_role r set permissions = $2 from organization_membership m
         where m.identity_id = $1 and r.organization_id = m.organization_id and r.slug = m.role`,
        [caller.identityId, JSON.stringify(permissions)],
      );
    const all = { subject: 'identity', action: ['read', 'edit'] };
    const ofTwo = { identityId: two.identityId };
    await store(
      { subject: 'identity', action: ['read'] },
      { subject: 'identity', action: ['edit'], conditions: ofTwo },
    );
    expect(await rename()).toBe(403);
    await store(all);
    expect(await rename()).toBe(200);
    await store(all, { subject: 'identity', action: ['edit'], inverted: true, conditions: ofTwo });
    expect(await rename()).toBe(403);
  });
});
