import { randomUUID } from 'node:crypto';
import type { Caller, Reply } from '../../kit/caller.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const GROUPS = '/api/v1/groups';

const strongroom = useSharedStrongroom();

const makeGroup = async (admin: Caller, body: object = {}): Promise<string> =>
  (await admin.post(GROUPS, { name: 'Web', ...body })).body.id;

const makeUser = async (admin: Caller, username = `user-${randomUUID().slice(0, 8)}`): Promise<string> =>
  (
    await admin.data('mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }', {
      input: { username },
    })
  ).createUser.user.id;

const makeIdentity = async (admin: Caller, name: string): Promise<string> =>
  (await admin.post('/api/v1/identities', { name })).body.identity.id;

const change = (caller: Caller, field: string, input: object): Promise<Reply> => {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const members = field.endsWith('s') ? 'members' : 'member';
  return caller.graphql(
    `mutation ($input: ${type}!) { ${field}(input: $input) { ${members} { memberKind memberId name joinedAt } } }`,
    { input },
  );
};

const membersOf = async (admin: Caller, groupId: string): Promise<string[]> =>
  (
    await admin.data('query ($groupId: ID!) { groupMembers(groupId: $groupId) { nodes { memberId } } }', { groupId })
  ).groupMembers.nodes.map(({ memberId }: { memberId: string }) => memberId);

describe('members of a group', () => {
  test('are added, listed by name with the date of joining, and removed, in REST', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeGroup(admin);
    const [bot, ada] = [await makeIdentity(admin, 'bot'), await makeUser(admin, 'ada@example.org')];
    const byIdentity = `${GROUPS}/${id}/machine-identities`;
    const byUser = `${GROUPS}/${id}/users`;
    const machine = { id: bot, name: 'bot', joinedAt: expect.stringMatching(/Z$/), isPartOfGroup: true };
    const person = { id: ada, username: 'ada@example.org', joinedAt: expect.stringMatching(/Z$/), isPartOfGroup: true };

    expect((await admin.post(`${byIdentity}/${bot}`)).body).toEqual(machine);
    expect((await admin.post(`${byUser}/Ada%40Example.org`)).body).toEqual(person);
    expect(await admin.post(`${byIdentity}/${bot}`)).toBeError(409, 'ALREADY_A_MEMBER');
    expect(await admin.post(`${byUser}/ada@example.org`)).toBeError(409, 'ALREADY_A_MEMBER');
    expect((await admin.get(byIdentity)).body).toEqual({ machineIdentities: [machine] });
    expect((await admin.get(byUser)).body).toEqual({ users: [person] });
    expect((await admin.delete(`${byIdentity}/${bot}`)).body).toEqual({ ...machine, isPartOfGroup: false });
    expect((await admin.delete(`${byUser}/ada@example.org`)).body).toEqual({ ...person, isPartOfGroup: false });
    expect(await admin.delete(`${byIdentity}/${bot}`)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await admin.delete(`${byUser}/ada@example.org`)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect((await admin.get(byIdentity)).body).toEqual({ machineIdentities: [] });
  });

  test('and the group lead to each other, whatever their number', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeGroup(admin);
    const [bot, ada] = [await makeIdentity(admin, 'bot'), await makeUser(admin, 'ada')];
    await change(admin, 'addGroupMembers', { groupId: id, userIds: [ada], identityIds: [bot] });
    const { group, users, identities } = await admin.data(
      `query ($id: ID!) {
        group(id: $id) {
          members { nodes { name memberKind group { id } user { username } identity { name } } }
          page: members(first: 1) { nodes { id name } pageInfo { hasNextPage } }
        }
        users { nodes { groups { nodes { id } } } }
        identities { nodes { name groups { nodes { id } } } }
      }`,
      { id },
    );
    expect(group.members.nodes).toEqual([
      { name: 'ada', memberKind: 'USER', group: { id }, user: { username: 'ada' }, identity: null },
      { name: 'bot', memberKind: 'IDENTITY', group: { id }, user: null, identity: { name: 'bot' } },
    ]);
    expect(group.page).toMatchObject({ nodes: [{ name: 'ada' }], pageInfo: { hasNextPage: true } });
    expect(users.nodes).toEqual([{ groups: { nodes: [{ id }] } }]);
    expect(identities.nodes).toEqual([
      { name: 'admin', groups: { nodes: [] } },
      { name: 'bot', groups: { nodes: [{ id }] } },
    ]);
    const { node } = await admin.data(
      'query ($id: ID!) { node(id: $id) { ... on GroupMember { name memberId groupId } } }',
      { id: group.page.nodes[0].id },
    );
    expect(node).toEqual({ name: 'ada', memberId: ada, groupId: id });
  });

  test('are added and removed many at once, all or nothing, naming the places of all that do not fit', async () => {
    const { admin } = await strongroom.seed.organization();
    const groupId = await makeGroup(admin);
    const [bot, ada, bob] = [
      await makeIdentity(admin, 'bot'),
      await makeUser(admin, 'ada'),
      await makeUser(admin, 'bob'),
    ];
    const wrong = await change(admin, 'addGroupMembers', {
      groupId,
      userIds: [randomUUID(), ada],
      usernames: ['bob', 'nobody'],
      identityIds: ['no-uuid', bot],
    });
    expect(wrong).toBeError(404, 'USER_NOT_FOUND');
    const { details } = wrong.body.errors[0].extensions;
    expect(details.map(({ path, code }: { path: string; code: string }) => [path, code])).toEqual([
      ['input.userIds[0]', 'USER_NOT_FOUND'],
      ['input.usernames[1]', 'USER_NOT_FOUND'],
      ['input.identityIds[0]', 'IDENTITY_NOT_FOUND'],
    ]);
    expect(await membersOf(admin, groupId)).toEqual([]);

    const all = { groupId, userIds: [ada], usernames: ['BOB'], identityIds: [bot] };
    const added = await change(admin, 'addGroupMembers', all);
    expect(added.body.data.addGroupMembers.members.map(({ name }: { name: string }) => name)).toEqual([
      'ada',
      'bob',
      'bot',
    ]);
    expect(await membersOf(admin, groupId)).toEqual([ada, bob, bot]);
    const again = await change(admin, 'addGroupMembers', all);
    expect(again).toBeError(409, 'ALREADY_A_MEMBER');
    expect(again.body.errors[0].extensions.details).toHaveLength(3);
    const carl = await makeUser(admin, 'carl');
    expect(await change(admin, 'removeGroupMembers', { groupId, userIds: [ada, carl] })).toBeError(
      404,
      'MEMBERSHIP_NOT_FOUND',
    );
    expect((await change(admin, 'removeGroupMembers', all)).body.errors).toBeUndefined();
    expect(await membersOf(admin, groupId)).toEqual([]);
  });

  test('are named once, and not more than 100 at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const groupId = await makeGroup(admin);
    const id = randomUUID();
    for (const input of [
      {},
      { userIds: [id, id.toUpperCase()] },
      { userIds: Array.from({ length: 60 }, randomUUID), identityIds: Array.from({ length: 41 }, randomUUID) },
    ]) {
      expect(await change(admin, 'addGroupMembers', { groupId, ...input })).toBeError(422, 'VALIDATION_FAILED');
    }
    for (const input of [{}, { userId: id, identityId: id }]) {
      expect(await change(admin, 'addGroupMember', { groupId, ...input })).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('are of the organization that owns the group', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const groupId = await makeGroup(one.admin);
    for (const id of [two.admin.identityId, randomUUID(), 'no-uuid']) {
      expect(await change(one.admin, 'addGroupMember', { groupId, identityId: id })).toBeError(
        404,
        'IDENTITY_NOT_FOUND',
      );
    }
    const stranger = await makeUser(two.admin);
    expect(await change(one.admin, 'addGroupMember', { groupId, userId: stranger })).toBeError(404, 'USER_NOT_FOUND');
    for (const id of [await makeGroup(two.admin), randomUUID(), 'no-uuid']) {
      const input = { groupId: id, identityId: one.admin.identityId };
      expect(await change(one.admin, 'addGroupMember', input)).toBeError(404, 'GROUP_NOT_FOUND');
      expect(await change(one.admin, 'removeGroupMember', input)).toBeError(404, 'GROUP_NOT_FOUND');
    }
  });

  test('are no machine identities that a project owns', async () => {
    const { admin, project } = await strongroom.seed.project();
    const groupId = await makeGroup(admin);
    const { createIdentity } = await admin.data(
      'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }',
      { input: { name: 'bot', projectId: project.id } },
    );
    const input = { groupId, identityId: createIdentity.identity.id };
    expect(await change(admin, 'addGroupMember', input)).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('leave the group with the organization', async () => {
    const { admin } = await strongroom.seed.organization();
    const groupId = await makeGroup(admin);
    const bot = await makeIdentity(admin, 'bot');
    await change(admin, 'addGroupMember', { groupId, identityId: bot });
    await admin.delete(`/api/v1/identities/${bot}`);
    expect(await membersOf(admin, groupId)).toEqual([]);
  });

  test('are changed by rights of their kind', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const groupId = await makeGroup(admin);
    const [bot, ada] = [await makeIdentity(admin, 'bot'), await makeUser(admin, 'ada')];
    const callerWith = async (...action: string[]): Promise<Caller> => {
      const slug = `role-${randomUUID().slice(0, 8)}`;
      await strongroom.sql(
        'insert into organization_role (id, organization_id, slug, name, permissions) values ($1, $2, $3, $3, $4)',
        [randomUUID(), organization.id, slug, JSON.stringify([{ subject: 'groups', action }])],
      );
      const caller = await strongroom.seed.caller(admin);
      await strongroom.sql('update organization_membership set role = $1 where identity_id = $2', [
        slug,
        caller.identityId,
      ]);
      return caller;
    };
    const ofUsers = await callerWith('add-members', 'remove-members');
    const ofMachines = await callerWith('add-identities', 'remove-identities');
    const [user, machine] = [
      { groupId, userId: ada },
      { groupId, identityId: bot },
    ];
    expect(await change(ofUsers, 'addGroupMember', machine)).toBeError(403, 'PERMISSION_DENIED');
    expect(await change(ofMachines, 'addGroupMember', user)).toBeError(403, 'PERMISSION_DENIED');
    const both = { groupId, userIds: [ada], identityIds: [bot] };
    expect(await change(ofUsers, 'addGroupMembers', both)).toBeError(403, 'PERMISSION_DENIED');
    expect((await change(ofUsers, 'addGroupMember', user)).body.errors).toBeUndefined();
    expect((await change(ofMachines, 'addGroupMember', machine)).body.errors).toBeUndefined();
    expect(await change(ofMachines, 'removeGroupMember', user)).toBeError(403, 'PERMISSION_DENIED');
    expect((await change(ofUsers, 'removeGroupMember', user)).body.errors).toBeUndefined();
    expect((await change(ofMachines, 'removeGroupMember', machine)).body.errors).toBeUndefined();
    expect(await ofUsers.get(`${GROUPS}/${groupId}/users`)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('are all there when many add themselves at once, and all gone when they remove themselves', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const groupId = await makeGroup(admin);
    const callers = await Promise.all(
      Array.from({ length: rounds(100) }, () => strongroom.seed.caller(admin.patient, { organizationRole: 'admin' })),
    );
    const at = (caller: Caller) => `${GROUPS}/${groupId}/machine-identities/${caller.identityId}`;
    const added = await Promise.all(callers.map((caller) => caller.patient.post(at(caller))));
    expect(added.map(({ status }) => status)).toEqual(added.map(() => 200));
    expect((await membersOf(admin, groupId)).toSorted()).toEqual(
      callers.map(({ identityId }) => identityId).toSorted(),
    );
    const rows = await strongroom.auditRows(`organization_id = $1 and action = 'group-member:add'`, [organization.id]);
    expect(new Set(rows.map(({ facts }) => facts.memberId)).size).toBe(callers.length);
    const removed = await Promise.all(callers.map((caller) => caller.patient.delete(at(caller))));
    expect(removed.map(({ status }) => status)).toEqual(removed.map(() => 200));
    expect(await membersOf(admin, groupId)).toEqual([]);
  });

  test('are added once when the same one is added 50 times at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const groupId = await makeGroup(admin);
    const bot = await makeIdentity(admin, 'bot');
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => admin.patient.post(`${GROUPS}/${groupId}/machine-identities/${bot}`)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200))
      expect(reply).toBeError(409, 'ALREADY_A_MEMBER');
    expect(await membersOf(admin, groupId)).toEqual([bot]);
  });
});
