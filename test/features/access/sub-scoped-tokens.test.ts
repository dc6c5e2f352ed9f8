import { Caller, useSharedStrongroom } from '../../kit/strongroom.ts';

const PERSONAL = `mutation ($input: CreatePersonalAccessTokenInput!) {
  createPersonalAccessToken(input: $input) { accessToken tokenData { id } }
}`;

describe('a personal token that is scoped to a sub-organization', () => {
  const strongroom = useSharedStrongroom();

  test("neither sees nor revokes its owner's tokens of the root", async () => {
    const { admin } = await strongroom.seed.organization();
    const { createSubOrganization } = await admin.data(
      'mutation { createSubOrganization(input: { name: "Team", slug: "team" }) { organization { id } } }',
    );
    const { createUser } = await admin.data(
      'mutation { createUser(input: { username: "ada", roleSlug: "member" }) { user { id } } }',
    );
    const userId = createUser.user.id;
    await admin.data(
      `mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { member { roleSlug } } }`,
      { input: { organizationId: createSubOrganization.organization.id, userId, roleSlug: 'member' } },
    );
    const root = (await admin.data(PERSONAL, { input: { userId } })).createPersonalAccessToken;
    const sub = (await admin.data(PERSONAL, { input: { userId, organizationSlug: 'team' } })).createPersonalAccessToken;
    const scoped = new Caller(strongroom.url, sub.accessToken);

    const { personalAccessTokens } = await scoped.data(
      'query ($userId: ID!) { personalAccessTokens(userId: $userId) { nodes { id } } }',
      { userId },
    );
    expect(personalAccessTokens.nodes).toEqual([{ id: sub.tokenData.id }]);
    const revoke = 'mutation ($input: RevokeAccessTokenInput!) { revokeAccessToken(input: $input) { __typename } }';
    expect(await scoped.graphql(revoke, { input: { id: root.tokenData.id } })).toBeError(404, 'TOKEN_NOT_FOUND');
  });
});
