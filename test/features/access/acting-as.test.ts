import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const KEEPS = { subject: 'identity', action: ['read', 'edit', 'create-token'] };

/** A caller who may make credentials of machine identities, and has no other right in the organization. */
async function scene() {
  const { admin, organization } = await strongroom.seed.organization();
  const makeRole = (slug: string, ...rules: object[]) =>
    strongroom.sql(
      `insert into organization_role (id, organization_id, slug, name, permissions)
       values (gen_random_uuid(), $1, $2, $2, $3::jsonb)`,
      [organization.id, slug, JSON.stringify(rules)],
    );
  const give = (caller: Caller, role: string) =>
    strongroom.sql('update organization_membership set role = $2 where identity_id = $1', [caller.identityId, role]);
  const keeper = await strongroom.seed.caller(admin);
  await makeRole('keeper', KEEPS);
  await give(keeper, 'keeper');
  return { admin, organization, keeper, makeRole, give, other: await strongroom.seed.caller(admin) };
}

const tokensOf = ({ identityId }: Caller) => `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
const universalAuthOf = ({ identityId }: Caller) => `/api/v1/auth/universal-auth/identities/${identityId}`;

describe('credentials of others', () => {
  test('are made by whoever may do what they may in the organization', async () => {
    const { admin, keeper, give, makeRole, other } = await scene();
    mustSucceed(await keeper.post(tokensOf(other), {}));
    mustSucceed(await keeper.post(universalAuthOf(other), {}));
    mustSucceed(await keeper.post(`${universalAuthOf(other)}/client-secrets`, {}));
    await makeRole('reader', { subject: 'settings', action: ['read'] });
    await give(other, 'reader');
    for (const path of [tokensOf(other), `${universalAuthOf(other)}/client-secrets`]) {
      const refused = await keeper.post(path, {});
      expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(refused.body.details).toEqual([
        { path: 'settings', code: 'read', message: 'requires the action read on settings' },
      ]);
      mustSucceed(await admin.post(path, {}));
    }
    const strange = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    expect(await keeper.post(universalAuthOf(strange), {})).toBeError(403, 'PERMISSION_BOUNDARY');
    const denied = await strongroom.auditRows(`outcome = 'denied' and actor_id = $1`, [keeper.identityId]);
    expect(denied.map(({ action }) => action)).toEqual([
      'identity:create-token',
      'identity:create-token',
      'identity:edit',
    ]);
  });

  test('are those of accounts with the roles of their groups', async () => {
    const { admin, keeper, other } = await scene();
    const group = await strongroom.seed.group(admin, other);
    mustSucceed(await keeper.post(tokensOf(other), {}));
    await strongroom.sql(`update organization_membership set role = 'admin' where group_id = $1`, [group.id]);
    expect(await keeper.post(tokensOf(other), {})).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await keeper.post(tokensOf(keeper), {}));
  });

  test('of users are bounded in the same way', async () => {
    const { admin, keeper, makeRole, give } = await scene();
    await makeRole('people', { subject: 'member', action: ['read', 'edit'] });
    await give(keeper, 'people');
    const { userId } = await strongroom.seed.user(admin);
    const make = 'mutation ($u: ID!) { createPersonalAccessToken(input: { userId: $u }) { accessToken } }';
    expect(await keeper.graphql(make, { u: userId })).toBeError(403, 'PERMISSION_BOUNDARY');
    await strongroom.sql(`update organization_membership set role = 'no-access' where user_id = $1`, [userId]);
    mustSucceed(await keeper.graphql(make, { u: userId }));
  });
});
