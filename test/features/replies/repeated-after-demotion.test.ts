import { randomUUID } from 'node:crypto';
import { useSharedStrongroom } from '../../kit/strongroom.ts';

describe('an answer that is kept for an idempotency key', () => {
  const strongroom = useSharedStrongroom();

  test('is not repeated to a caller who may do less in the organization by now', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const { userId } = await strongroom.seed.user(admin);
    const caller = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const demote = (identityId: string, roleSlug: string) =>
      admin.data(
        `mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }`,
        { input: { organizationId: organization.id, identityId, roleSlug } },
      );
    const body = {
      query: `mutation ($input: SetOrganizationMemberInput!) {
        setOrganizationMember(input: $input) { member { name organization { name } user { username } } }
      }`,
      variables: { input: { organizationId: organization.id, userId, roleSlug: 'admin' } },
    };
    const headers = { 'idempotency-key': randomUUID() };
    const send = () => caller.request({ method: 'POST', path: '/graphql', headers, body });
    const made = await send();
    expect(made.body.data.setOrganizationMember.member.user.username).toMatch(/^user-/);
    expect(await send()).toMatchObject({ status: 200, body: made.body });

    await demote(caller.identityId, 'no-access');
    const refused = await send();
    expect(refused).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
    expect(refused.text).not.toContain('user-');

    await demote(caller.identityId, 'admin');
    expect(await send()).toMatchObject({ status: 200, body: made.body });
  });
});
