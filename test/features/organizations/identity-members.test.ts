import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { organizationCaller } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const send = (caller: Caller, field: string, input: object): Promise<Reply> =>
  caller.graphql(
    `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`,
    { input },
  );

const refusal = (subject: string, action: string) => ({
  details: [expect.objectContaining({ path: subject, code: action })],
});
const PEOPLE = { subject: 'member', action: ['read', 'create', 'edit', 'delete'] };
const MACHINES = { subject: 'identity', action: ['read', 'create', 'edit', 'delete'] };

/** A machine identity, a user, and somebody with these rights alone. */
async function scene(...permissions: readonly GivenRule[]) {
  const { admin } = await strongroom.seed.organization();
  const identity = await strongroom.seed.caller(admin);
  const user = await strongroom.seed.user(admin);
  mustSucceed(await send(admin, 'updateUser', { id: user.userId, roleSlug: 'no-access' }));
  const caller = await organizationCaller(strongroom, admin, ...permissions);
  const { organizationMembers } = await admin.data('{ organizationMembers { nodes { id memberId } } }');
  const membershipOf = (id: string | undefined): string =>
    organizationMembers.nodes.find(({ memberId }: { memberId: string }) => memberId === id).id;
  return {
    admin,
    caller,
    identityId: String(identity.identityId),
    userId: user.userId,
    ofIdentity: membershipOf(identity.identityId),
    ofUser: membershipOf(user.userId),
  };
}

describe('the membership of a machine identity', () => {
  test('is not changed by who may change people alone, as its role is not', async () => {
    const { caller, identityId, ofIdentity, userId } = await scene(PEOPLE, { subject: 'identity', action: ['read'] });
    for (const [field, input] of [
      ['updateIdentity', { id: identityId, roleSlug: 'no-access' }],
      ['setOrganizationMember', { identityId, roleSlug: 'no-access' }],
      ['updateOrganizationMember', { id: ofIdentity, roleSlug: 'no-access' }],
      ['updateOrganizationMember', { id: ofIdentity, endsAt: '2100-01-01T00:00:00Z' }],
    ] as const) {
      const refused = await send(caller, field, input);
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
      expect(refused.body.errors[0].extensions).toMatchObject(refusal('IDENTITY', 'EDIT'));
    }
    mustSucceed(await send(caller, 'setOrganizationMember', { userId, roleSlug: 'no-access' }));
  });

  test('is not changed by who may not read the identity', async () => {
    const { caller, identityId, ofIdentity } = await scene(PEOPLE, { subject: 'identity', action: ['edit', 'delete'] });
    for (const [field, input] of [
      ['updateIdentity', { id: identityId, roleSlug: 'no-access' }],
      ['setOrganizationMember', { identityId, roleSlug: 'no-access' }],
      ['updateOrganizationMember', { id: ofIdentity, roleSlug: 'no-access' }],
      ['removeOrganizationMember', { identityId }],
    ] as const) {
      const refused = await send(caller, field, input);
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
      expect(refused.body.errors[0].extensions).toMatchObject(refusal('IDENTITY', 'READ'));
    }
  });

  test('is refused like one that nobody has to who may read neither kind', async () => {
    const { caller, ofIdentity, ofUser } = await scene({ subject: 'identity', action: ['edit'] });
    for (const id of [ofIdentity, ofUser, randomUUID()]) {
      const refused = await send(caller, 'updateOrganizationMember', { id, roleSlug: 'no-access' });
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
      expect(refused.body.errors[0].extensions).toMatchObject(refusal('MEMBER', 'READ'));
    }
  });

  test('is changed by who may change identities, and that of a person is not', async () => {
    const { caller, identityId, ofIdentity, userId, ofUser } = await scene(MACHINES);
    mustSucceed(await send(caller, 'updateIdentity', { id: identityId, roleSlug: 'no-access' }));
    mustSucceed(await send(caller, 'setOrganizationMember', { identityId, roleSlug: 'no-access' }));
    mustSucceed(await send(caller, 'updateOrganizationMember', { id: ofIdentity, endsAt: '2100-01-01T00:00:00Z' }));
    for (const [field, input] of [
      ['setOrganizationMember', { userId, roleSlug: 'no-access' }],
      ['removeOrganizationMember', { userId }],
      ['updateOrganizationMember', { id: ofUser, roleSlug: 'no-access' }],
      ['updateOrganizationMember', { id: randomUUID(), roleSlug: 'no-access' }],
    ] as const) {
      const refused = await send(caller, field, input);
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
      expect(refused.body.errors[0].extensions).toMatchObject(refusal('MEMBER', 'READ'));
    }
  });
});

test('the end of a membership of a machine identity takes the right to delete identities', async () => {
  const people = await scene(PEOPLE, { subject: 'identity', action: ['read', 'edit'] });
  const refused = await send(people.caller, 'removeOrganizationMember', { identityId: people.identityId });
  expect(refused).toBeError(403, 'PERMISSION_DENIED');
  expect(refused.body.errors[0].extensions).toMatchObject(refusal('IDENTITY', 'DELETE'));

  const machines = await scene({ subject: 'identity', action: ['read', 'delete'] });
  const owned = await send(machines.caller, 'removeOrganizationMember', { identityId: machines.identityId });
  // The organization owns it: whoever has the right learns that.
  expect(owned).toBeError(422, 'VALIDATION_FAILED');
});
