import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { organizationCaller, word } from './kit.js';

const strongroom = useSharedStrongroom();

describe('a group of a root organization in a sub-organization', () => {
  test('takes in members by whoever has there what it gives, whatever the rights in the root', async () => {
    const { admin } = await strongroom.seed.organization();
    const name = word('sub');
    const { createSubOrganization } = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
      { input: { name, slug: name } },
    );
    const sub: { id: string } = createSubOrganization.organization;
    const rights = [
      { subject: 'groups', action: ['read', 'add-identities'] },
      { subject: 'identity', action: ['read'] },
    ];
    const keeper = await organizationCaller(strongroom, admin, ...rights);
    const group = await strongroom.seed.group(admin);
    const input = { groupId: group.id, organizationId: sub.id, roleSlug: 'no-access' };
    await admin.data('mutation ($input: LinkGroupInput!) { linkGroup(input: $input) { __typename } }', { input });
    await strongroom.sql(
      `insert into organization_role (id, organization_id, slug, name, permissions) values ($1, $2, 'reader', 'reader', $3)`,
      [randomUUID(), sub.id, JSON.stringify(rights.slice(1))],
    );
    const setRole = (id: string | undefined, role: string) =>
      strongroom.sql(
        `update organization_membership set role = $3 where organization_id = $1 and coalesce(group_id, identity_id) = $2`,
        [sub.id, id, role],
      );
    const path = `/api/v1/groups/${group.id}/machine-identities/${keeper.identityId}`;
    await setRole(group.id, 'reader');
    const refused = await keeper.post(path);
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toMatchObject([{ path: 'identity', code: 'read' }]);
    await admin.data(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { organizationId: sub.id, identityId: keeper.identityId, roleSlug: 'no-access' } },
    );
    expect(await keeper.post(path)).toBeError(403, 'PERMISSION_BOUNDARY');
    await setRole(keeper.identityId, 'reader');
    mustSucceed(await keeper.post(path));
  });
});
