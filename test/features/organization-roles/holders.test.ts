import { type Caller, mustSucceed } from '../../kit/caller.js';
import { otherNodeInAll, rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const ROLES = '/api/v1/organization/roles';
const IDENTITIES = '/api/v1/identities';

const make = async (admin: Caller, slug: string, ...permissions: unknown[]): Promise<{ id: string }> =>
  mustSucceed(await admin.post(ROLES, { slug, name: slug, permissions })).body.role;

/** A caller with a role of its organization that allows this. */
async function holder(...permissions: unknown[]) {
  const { organization, admin } = await strongroom.seed.organization();
  const role = await make(admin, 'own', ...permissions);
  const caller = await strongroom.seed.caller(admin);
  mustSucceed(await admin.patch(`${IDENTITIES}/${caller.identityId}`, { role: 'own' }));
  return {
    organization,
    admin,
    role,
    caller,
    patch: (rules: unknown[]) => admin.patch(`${ROLES}/${role.id}`, { permissions: rules }),
  };
}

const CREATE_IDENTITY = { subject: 'identity', action: 'create' };

describe('who has a role of the organization', () => {
  test('may do what it allows, and nothing else', async () => {
    const { caller } = await holder(CREATE_IDENTITY);
    const { identity } = mustSucceed(await caller.post(IDENTITIES, { name: 'made' })).body;
    expect(identity.role).toBe('no-access');
    expect(await caller.get(IDENTITIES)).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.delete(`${IDENTITIES}/${identity.id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.graphql('{ users { nodes { id } } }')).toBeError(403, 'PERMISSION_DENIED');
    // Nor give more than it has itself.
    const refused = await caller.post(IDENTITIES, { name: 'more', role: 'member' });
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toContainEqual({
      path: 'organization',
      code: 'read',
      message: 'requires the action read on organization',
    });
    expect((await caller.post(IDENTITIES, { name: 'same', role: 'own' })).status).toBe(200);
  });

  test('is denied what a later rule takes back', async () => {
    const everything = { subject: 'identity', action: ['read', 'create', 'edit', 'delete'] };
    const { caller, patch } = await holder(everything, { ...CREATE_IDENTITY, inverted: true });
    mustSucceed(await caller.get(IDENTITIES));
    expect(await caller.post(IDENTITIES, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await patch([{ ...CREATE_IDENTITY, inverted: true }, everything]));
    mustSucceed(await caller.post(IDENTITIES, { name: 'x' }));
  });

  test('is bound by a change of it at the next request, on two nodes', async () => {
    const { caller, role, admin, patch } = await holder(CREATE_IDENTITY);
    const second = await otherNodeInAll(strongroom);
    const nodes = [caller, caller.at(second.url)];
    for (const node of nodes) mustSucceed(await node.post(IDENTITIES, { name: 'x' }));
    mustSucceed(await patch([{ subject: 'identity', action: 'read' }]));
    for (const node of nodes) {
      expect(await node.post(IDENTITIES, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
      mustSucceed(await node.get(IDENTITIES));
    }
    mustSucceed(await admin.at(second.url).patch(`${ROLES}/${role.id}`, { slug: 'renamed' }));
    for (const node of nodes) mustSucceed(await node.get(IDENTITIES));
    const { identity } = mustSucceed(await admin.get(`${IDENTITIES}/${caller.identityId}`)).body;
    expect(identity.role).toBe('renamed');
    mustSucceed(await admin.at(second.url).patch(`${ROLES}/${role.id}`, { permissions: [] }));
    for (const node of nodes) expect(await node.get(IDENTITIES)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('keeps the role from being deleted', async () => {
    const { admin, role, caller } = await holder(CREATE_IDENTITY);
    expect(await admin.delete(`${ROLES}/${role.id}`)).toBeError(409, 'ROLE_IN_USE');
    mustSucceed(await admin.patch(`${IDENTITIES}/${caller.identityId}`, { role: 'no-access' }));
    mustSucceed(await admin.delete(`${ROLES}/${role.id}`));
  });

  test('has one that there is, whoever deletes or renames it at the moment at which it is given', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    const path = `${IDENTITIES}/${caller.identityId}`;
    for (let round = 0; round < rounds(6); round += 1) {
      const { id } = await make(admin, `round-${round}`, CREATE_IDENTITY);
      const change =
        round % 2 === 0 ? admin.delete(`${ROLES}/${id}`) : admin.patch(`${ROLES}/${id}`, { slug: `now-${round}` });
      const [given, changed] = await Promise.all([admin.patch(path, { role: `round-${round}` }), change]);
      expect([200, 404]).toContain(given.status);
      expect([200, 409]).toContain(changed.status);
      const { role } = mustSucceed(await admin.get(path)).body.identity;
      mustSucceed(await admin.get(`${ROLES}/slug/${role}`));
      if (round % 2 === 0) expect([given.status, changed.status].sort()).not.toEqual([200, 200]);
    }
  });

  test('shows its slug and the role, in one statement for all', async () => {
    const { admin, role, caller } = await holder(CREATE_IDENTITY);
    const HELD = '{ roleSlug role { id slug version } }';
    const document = `query ($id: ID!) { identity(id: $id) ${HELD} organizationMembers { nodes { name roleSlug role { slug } } } }`;
    const shown = await admin.data(document, { id: caller.identityId });
    expect(shown.identity).toEqual({ roleSlug: 'own', role: { id: role.id, slug: 'own', version: 1 } });
    for (const { roleSlug, role: held } of shown.organizationMembers.nodes) expect(held).toEqual({ slug: roleSlug });
    const list = () => strongroom.statements(() => admin.data(`{ organizationMembers { nodes ${HELD} } }`));
    const one = await list();
    for (let at = 0; at < 5; at += 1) await strongroom.seed.user(admin);
    expect((await list()).count).toBe(one.count);
    const reader = await holder({ subject: 'identity', action: 'read' });
    const denied = await reader.caller.graphql(`query ($id: ID!) { identity(id: $id) ${HELD} }`, {
      id: reader.caller.identityId,
    });
    expect(denied.body.data.identity).toEqual({ roleSlug: 'own', role: null });
    expect(denied.body.errors[0].extensions.code).toBe('PERMISSION_DENIED');
  });

  test('cannot be given one that the organization does not have, on any path', async () => {
    const { organization, admin, caller } = await holder(CREATE_IDENTITY);
    const { admin: other } = await strongroom.seed.organization();
    await make(other, 'theirs', CREATE_IDENTITY);
    const user = await strongroom.seed.user(admin);
    const { createSubOrganization } = await admin.data(
      'mutation { createSubOrganization(input: { name: "sub" }) { organization { id } } }',
    );
    const sub = createSubOrganization.organization.id;
    const run = (field: string, input: object) =>
      admin.graphql(
        `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`,
        { input },
      );
    for (const roleSlug of ['theirs', 'nobody']) {
      expect(await admin.post(IDENTITIES, { name: 'x', role: roleSlug })).toBeError(404, 'ROLE_NOT_FOUND');
      expect(await admin.patch(`${IDENTITIES}/${caller.identityId}`, { role: roleSlug })).toBeError(
        404,
        'ROLE_NOT_FOUND',
      );
      expect(await run('createUser', { username: 'x', roleSlug })).toBeError(404, 'ROLE_NOT_FOUND');
      expect(await run('updateUser', { id: user.userId, roleSlug })).toBeError(404, 'ROLE_NOT_FOUND');
      expect(await run('setOrganizationMember', { userId: user.userId, roleSlug })).toBeError(404, 'ROLE_NOT_FOUND');
    }
    // A role of the root is none of a sub-organization.
    const below = { organizationId: sub, identityId: caller.identityId, roleSlug: 'own' };
    expect(await run('setOrganizationMember', below)).toBeError(404, 'ROLE_NOT_FOUND');
    expect(
      (await run('setOrganizationMember', { ...below, organizationId: organization.id })).body.errors,
    ).toBeUndefined();
    expect((await run('createUser', { username: 'y', roleSlug: 'own' })).body.errors).toBeUndefined();
    expect(await run('createUser', { username: 'z', roleSlug: 'No Slug' })).toBeError(422, 'VALIDATION_FAILED');
  });
});
