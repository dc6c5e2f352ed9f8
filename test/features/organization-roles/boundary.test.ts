import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const ROLES = '/api/v1/organization/roles';
const IDENTITIES = '/api/v1/identities';
const MANAGER = [
  { subject: 'role', action: ['read', 'create', 'edit', 'delete'] },
  { subject: 'member', action: ['read', 'create', 'edit', 'delete'] },
  { subject: 'identity', action: ['read', 'create', 'edit', 'delete'] },
];
const GROUPS = { subject: 'groups', action: ['create', 'edit'] };
const ON_TEAMS = { ...GROUPS, conditions: { groupSlug: { $glob: 'team-*' } } };

const make = async (admin: Caller, slug: string, ...permissions: unknown[]): Promise<{ id: string }> =>
  mustSucceed(await admin.post(ROLES, { slug, name: slug, permissions })).body.role;

const identityWith = async (admin: Caller, role: string): Promise<string> =>
  mustSucceed(await admin.post(IDENTITIES, { name: 'x', role })).body.identity.id;

/** A caller that may make roles and give them, and has these rights besides. */
async function manager(...permissions: unknown[]) {
  const { organization, admin } = await strongroom.seed.organization();
  const own = await make(admin, 'manager', ...MANAGER, ...permissions);
  const caller = await strongroom.seed.caller(admin);
  mustSucceed(await admin.patch(`${IDENTITIES}/${caller.identityId}`, { role: 'manager' }));
  const run = (field: string, input: object) =>
    caller.graphql(
      `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`,
      { input },
    );
  return { organization, admin, caller, own, run };
}

describe('whoever may make roles of the organization', () => {
  test('cannot make one that allows more than its own rights, and is told what is missing', async () => {
    const { caller } = await manager(ON_TEAMS);
    const post = (slug: string, ...permissions: unknown[]) => caller.post(ROLES, { slug, name: 'X', permissions });
    expect((await post('a', ON_TEAMS)).status).toBe(200);
    expect((await post('b', { ...ON_TEAMS, conditions: { groupSlug: 'team-a' } })).status).toBe(200);
    expect((await post('c', { subject: 'kms', action: 'delete', inverted: true })).status).toBe(200);
    const refused = await post('d', GROUPS, { subject: 'workspace', action: ['create'] });
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details.map(({ path, code }: Record<string, string>) => `${path}:${code}`)).toEqual([
      'groups:create',
      'groups:edit',
      'workspace:create',
    ]);
    const denied = await strongroom.auditRows(`outcome = 'denied' and actor_id = $1`, [caller.identityId]);
    expect(denied.map(({ action }) => action)).toEqual(['role:create']);
  });

  test('cannot change one to allow more, to forbid less, or one that allows more already', async () => {
    const { admin, caller, own } = await manager(ON_TEAMS);
    const mighty = await make(admin, 'mighty', GROUPS);
    const tight = await make(admin, 'tight', { ...GROUPS, inverted: true });
    const patch = (id: string, body: object) => caller.patch(`${ROLES}/${id}`, body);
    expect(await patch(own.id, { permissions: [...MANAGER, GROUPS] })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await patch(tight.id, { permissions: [] })).toBeError(403, 'PERMISSION_BOUNDARY');
    for (const change of [{ slug: 'away' }, { name: 'Away' }, { permissions: [] }, {}])
      expect(await patch(mighty.id, change)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.delete(`${ROLES}/${mighty.id}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await patch(own.id, { permissions: [...MANAGER, ON_TEAMS], name: 'Own' })).status).toBe(200);
    mustSucceed(await admin.patch(`${ROLES}/${mighty.id}`, { permissions: [ON_TEAMS] }));
    mustSucceed(await caller.delete(`${ROLES}/${mighty.id}`));
  });

  test('cannot give one that allows more, nor take it, nor delete who has it', async () => {
    const { organization, admin, caller, run } = await manager(ON_TEAMS);
    await make(admin, 'mighty', GROUPS);
    await make(admin, 'lesser', ON_TEAMS);
    const lesser = await identityWith(caller, 'lesser');
    for (const role of ['mighty', 'member', 'admin']) {
      expect(await caller.post(IDENTITIES, { name: 'x', role })).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(await caller.patch(`${IDENTITIES}/${lesser}`, { role })).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(await run('createUser', { username: 'x', roleSlug: role })).toBeError(403, 'PERMISSION_BOUNDARY');
      const set = { organizationId: organization.id, identityId: lesser, roleSlug: role };
      expect(await run('setOrganizationMember', set)).toBeError(403, 'PERMISSION_BOUNDARY');
      const held = await identityWith(admin, role);
      expect(await caller.patch(`${IDENTITIES}/${held}`, { role: 'lesser' })).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(await run('setOrganizationMember', { identityId: held, roleSlug: 'lesser' })).toBeError(
        403,
        'PERMISSION_BOUNDARY',
      );
      expect(await caller.delete(`${IDENTITIES}/${held}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    }
    mustSucceed(await caller.patch(`${IDENTITIES}/${lesser}`, { role: 'manager' }));
    mustSucceed(await caller.delete(`${IDENTITIES}/${lesser}`));
  });

  test('cannot delete who has such a role in a sub-organization only', async () => {
    const { admin, caller } = await manager();
    const lesser = await identityWith(admin, 'no-access');
    const { createSubOrganization } = await admin.data(
      'mutation { createSubOrganization(input: { name: "sub" }) { organization { id } } }',
    );
    const SET =
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }';
    const input = { organizationId: createSubOrganization.organization.id, identityId: lesser };
    await admin.data(SET, { input: { ...input, roleSlug: 'member' } });
    expect(await caller.delete(`${IDENTITIES}/${lesser}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    await admin.data(SET, { input: { ...input, roleSlug: 'no-access' } });
    mustSucceed(await caller.delete(`${IDENTITIES}/${lesser}`));
  });

  test('has no exemption as an admin by name, since its rights suffice', async () => {
    const { admin } = await strongroom.seed.organization();
    const everything = { subject: 'kms', action: ['read', 'create', 'edit', 'delete'] };
    const { id } = await make(admin, 'keys', everything);
    mustSucceed(await admin.patch(`${ROLES}/${id}`, { permissions: [] }));
    mustSucceed(await admin.delete(`${ROLES}/${id}`));
  });
});
