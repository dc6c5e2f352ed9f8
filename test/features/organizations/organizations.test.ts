import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const FIELDS = 'id name slug parentId';
const CREATE_SUB = `mutation ($input: CreateSubOrganizationInput!) {
  createSubOrganization(input: $input) { organization { ${FIELDS} } }
}`;
const UPDATE = `mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { organization { ${FIELDS} } } }`;
const DELETE = `mutation ($input: DeleteOrganizationInput!) { deleteOrganization(input: $input) { organization { ${FIELDS} } } }`;
const ONE = `query ($id: ID) { organization(id: $id) { ${FIELDS} } }`;
const SET = `mutation ($input: SetOrganizationMemberInput!) {
  setOrganizationMember(input: $input) { member { id memberId memberKind name roleSlug organizationId } }
}`;
const REMOVE = `mutation ($input: RemoveOrganizationMemberInput!) { removeOrganizationMember(input: $input) { member { id } } }`;

const makeSub = async (admin: Caller, slug: string): Promise<{ id: string }> =>
  (await admin.graphql(CREATE_SUB, { input: { name: slug, slug } })).body.data.createSubOrganization.organization;

const strongroom = useSharedStrongroom();

describe('organizations', () => {
  test('are made by the admin of the installation only, with a first admin that can act', async () => {
    const create = `mutation ($input: CreateOrganizationInput!) {
      createOrganization(input: $input) { organization { ${FIELDS} } identityId accessToken }
    }`;
    const slug = `acme-${randomUUID().slice(0, 8)}`;
    const { organization, accessToken } = (await strongroom.admin.graphql(create, { input: { name: 'Acme', slug } }))
      .body.data.createOrganization;
    expect(organization).toEqual({ id: expect.any(String), name: 'Acme', slug, parentId: null });
    const reply = await strongroom.admin.anonymous.post(
      '/graphql',
      { query: ONE },
      { authorization: `Bearer ${accessToken}` },
    );
    expect(reply.body.data.organization).toEqual(organization);
    const { admin } = await strongroom.seed.organization();
    expect(await admin.graphql(create, { input: { name: 'C' } })).toBeError(403, 'PERMISSION_DENIED');
  });

  test('show themselves and their sub-organizations, and nothing of others', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const sub = await makeSub(one.admin, 'team');
    const listed = (await one.admin.graphql('{ organizations { nodes { id } } }')).body.data.organizations.nodes;
    expect(listed).toEqual([{ id: one.organization.id }, { id: sub.id }]);
    for (const id of [two.organization.id, randomUUID(), 'no-uuid']) {
      expect(await one.admin.graphql(ONE, { id })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
      expect(await one.admin.graphql(UPDATE, { input: { id, name: 'x' } })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
      expect(await one.admin.graphql(DELETE, { input: { id } })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
    }
  });

  test('are changed and deleted by those who may', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const sub = await makeSub(admin, 'team');
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    for (const { id } of [organization, sub]) {
      const renamed = await admin.graphql(UPDATE, { input: { id, name: 'Renamed' } });
      expect(renamed.body.data.updateOrganization.organization.name).toBe('Renamed');
      expect(await member.graphql(UPDATE, { input: { id, name: 'x' } })).toBeError(403, 'PERMISSION_DENIED');
      expect(await member.graphql(DELETE, { input: { id } })).toBeError(403, 'PERMISSION_DENIED');
    }
    expect(await admin.graphql(DELETE, { input: { id: organization.id } })).toBeError(403, 'PERMISSION_DENIED');
    const root = { input: { id: organization.id } };
    expect(await strongroom.admin.graphql(DELETE, root)).toBeError(409, 'ORGANIZATION_IN_USE');
    expect((await admin.graphql(DELETE, { input: { id: sub.id } })).body.errors).toBeUndefined();
    expect((await strongroom.admin.graphql(DELETE, root)).body.errors).toBeUndefined();
    expect(await admin.graphql(ONE)).toBeError(401, 'TOKEN_INVALID');
  });

  test('below a root get another slug by its admins alone, so that siblings do not learn of each other', async () => {
    const { admin } = await strongroom.seed.organization();
    const [one, two] = [await makeSub(admin, 'one'), await makeSub(admin, 'two')];
    const { createAccessToken } = await admin.data(
      'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }',
      { input: { identityId: admin.identityId, organizationSlug: 'one' } },
    );
    const below = new Caller(admin.url, createAccessToken.accessToken);
    for (const slug of ['two', 'three'])
      expect(await below.graphql(UPDATE, { input: { id: one.id, slug } })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await below.graphql(UPDATE, { input: { id: one.id, slug: 'one', name: 'Renamed' } }));
    expect(await admin.graphql(UPDATE, { input: { id: one.id, slug: 'two' } })).toBeError(
      409,
      'ORGANIZATION_SLUG_TAKEN',
    );
    mustSucceed(await admin.graphql(UPDATE, { input: { id: two.id, slug: 'three' } }));
  });

  test('bound mails to domains, in the audit trail too, with every fault at once', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const update = `mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { organization { name allowedEmailDomains } } }`;
    const { id } = organization;
    const set = (allowedEmailDomains: unknown, more: object = {}) =>
      admin.graphql(update, { input: { id, allowedEmailDomains, ...more } });
    const reply = mustSucceed(await set(['Example.COM', 'Bücher.example']));
    const domains = ['example.com', 'xn--bcher-kva.example'];
    expect(reply.body.data.updateOrganization.organization.allowedEmailDomains).toEqual(domains);
    const [row] = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(row).toMatchObject({ action: 'organization:update', facts: { allowedEmailDomains: domains } });
    const shown = async () =>
      await admin.data('{ organization { name allowedEmailDomains } organizations { nodes { allowedEmailDomains } } }');
    mustSucceed(await admin.graphql(update, { input: { id, name: 'Renamed' } }));
    expect(await shown()).toEqual({
      organization: { name: 'Renamed', allowedEmailDomains: domains },
      organizations: { nodes: [{ allowedEmailDomains: domains }] },
    });
    const refused = await set(['fine.example', 'canary', 'a@b.example'], { name: '' });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.errors[0].extensions.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      ...['input.allowedEmailDomains[1]', 'input.allowedEmailDomains[2]', 'input.name'],
    ]);
    expect(refused.text).not.toContain('canary');
    expect(await set(Array.from({ length: 51 }, (_, at) => `d${at}.example`))).toBeError(422, 'VALIDATION_FAILED');
    mustSucceed(await set([]));
    expect((await shown()).organization.allowedEmailDomains).toEqual([]);
  });

  test('that are the own one of the admin of the installation stay', async () => {
    const { id } = (await strongroom.admin.graphql(ONE)).body.data.organization;
    expect(await strongroom.admin.graphql(DELETE, { input: { id } })).toBeError(409, 'ORGANIZATION_IN_USE');
  });
});

describe('members of a sub-organization', () => {
  test('come from the root organization, change roles and leave; one admin stays', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const sub = await makeSub(admin, 'team');
    const caller = await strongroom.seed.caller(admin, { organizationRole: 'no-access' });
    const who = { organizationId: sub.id, identityId: caller.identityId };
    const set = await admin.graphql(SET, { input: { ...who, roleSlug: 'admin' } });
    expect(set.body.data.setOrganizationMember.member).toMatchObject({
      memberId: caller.identityId,
      memberKind: 'IDENTITY',
      roleSlug: 'admin',
    });
    expect((await admin.graphql(SET, { input: { ...who, roleSlug: 'member' } })).body.errors).toBeUndefined();
    const self = { organizationId: sub.id, identityId: admin.identityId };
    expect(await admin.graphql(SET, { input: { ...self, roleSlug: 'member' } })).toBeError(409, 'LAST_ADMIN');
    expect(await admin.graphql(REMOVE, { input: self })).toBeError(409, 'LAST_ADMIN');
    expect((await admin.graphql(REMOVE, { input: who })).body.errors).toBeUndefined();
    expect(await admin.graphql(REMOVE, { input: who })).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    const owned = { organizationId: organization.id, identityId: caller.identityId };
    expect(await admin.graphql(REMOVE, { input: owned })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('cannot be strangers, and are set by admins only', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const sub = await makeSub(one.admin, 'team');
    for (const identityId of [two.admin.identityId, randomUUID(), 'no-uuid']) {
      const input = { organizationId: sub.id, identityId, roleSlug: 'member' };
      expect(await one.admin.graphql(SET, { input })).toBeError(404, 'IDENTITY_NOT_FOUND');
    }
    const input = { organizationId: sub.id, userId: randomUUID(), roleSlug: 'member' };
    expect(await one.admin.graphql(SET, { input })).toBeError(404, 'USER_NOT_FOUND');
    const both = { input: { ...input, identityId: one.admin.identityId } };
    expect(await one.admin.graphql(SET, both)).toBeError(422, 'VALIDATION_FAILED');
    const member = await strongroom.seed.caller(one.admin, { organizationRole: 'member' });
    const attempt = { input: { organizationId: sub.id, identityId: member.identityId, roleSlug: 'admin' } };
    expect(await member.graphql(SET, attempt)).toBeError(403, 'PERMISSION_DENIED');
    expect(await two.admin.graphql(SET, attempt)).toBeError(404, 'ORGANIZATION_NOT_FOUND');
  });
});

describe('users', () => {
  const CREATE = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username roleSlug } } }';
  const CHANGE = 'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { id username roleSlug } } }';
  const DROP = 'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }';
  const GET = 'query ($id: ID!) { user(id: $id) { id username roleSlug } }';

  test('are made, read, listed by username, changed and deleted', async () => {
    const { admin } = await strongroom.seed.organization();
    const { user } = (await admin.graphql(CREATE, { input: { username: ' Ada@Example.org ' } })).body.data.createUser;
    expect(user).toEqual({ id: expect.any(String), username: 'ada@example.org', roleSlug: 'member' });
    expect(await admin.graphql(CREATE, { input: { username: 'ADA@example.org' } })).toBeError(409, 'USERNAME_TAKEN');
    expect((await admin.graphql(GET, { id: user.id })).body.data.user).toEqual(user);
    await admin.graphql(CREATE, { input: { username: 'bob', roleSlug: 'no-access' } });
    const page = (after: string | null) => admin.graphql(PAGE, { after });
    const PAGE =
      'query ($after: String) { users(first: 1, after: $after) { nodes { username } pageInfo { hasNextPage endCursor } } }';
    const first = (await page(null)).body.data.users;
    const second = (await page(first.pageInfo.endCursor)).body.data.users;
    expect([...first.nodes, ...second.nodes]).toEqual([{ username: 'ada@example.org' }, { username: 'bob' }]);
    expect(second.pageInfo.hasNextPage).toBe(false);
    const changed = await admin.graphql(CHANGE, { input: { id: user.id, username: 'ada', roleSlug: 'admin' } });
    expect(changed.body.data.updateUser.user).toEqual({ id: user.id, username: 'ada', roleSlug: 'admin' });
    expect(await admin.graphql(CHANGE, { input: { id: user.id, username: 'bob' } })).toBeError(409, 'USERNAME_TAKEN');
    expect((await admin.graphql(DROP, { input: { id: user.id } })).body.errors).toBeUndefined();
    expect(await admin.graphql(DROP, { input: { id: user.id } })).toBeError(404, 'USER_NOT_FOUND');
  });

  test('of another organization are not found, and are changed by admins only', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const { user } = (await two.admin.graphql(CREATE, { input: { username: 'eve' } })).body.data.createUser;
    for (const id of [user.id, randomUUID(), 'no-uuid']) {
      expect(await one.admin.graphql(GET, { id })).toBeError(404, 'USER_NOT_FOUND');
      expect(await one.admin.graphql(CHANGE, { input: { id, roleSlug: 'admin' } })).toBeError(404, 'USER_NOT_FOUND');
      expect(await one.admin.graphql(DROP, { input: { id } })).toBeError(404, 'USER_NOT_FOUND');
    }
    const member = await strongroom.seed.caller(two.admin, { organizationRole: 'member' });
    expect((await member.graphql(GET, { id: user.id })).body.errors).toBeUndefined();
    expect(await member.graphql(CREATE, { input: { username: 'x' } })).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.graphql(CHANGE, { input: { id: user.id, roleSlug: 'admin' } })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
  });
});
