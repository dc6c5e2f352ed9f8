import { randomUUID } from 'node:crypto';
import { Caller, useSharedStrongroom } from '../../kit/strongroom.ts';

const PERSONAL = `mutation ($input: CreatePersonalAccessTokenInput!) {
  createPersonalAccessToken(input: $input) { accessToken tokenData { id } }
}`;

const strongroom = useSharedStrongroom();

describe('a personal token that is scoped to a sub-organization', () => {
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

test('a token of the installation admin that is scoped to a sub-organization reaches no further', async () => {
  const CREATE = `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { organization { id } } }`;
  const DELETE = `mutation ($input: DeleteOrganizationInput!) { deleteOrganization(input: $input) { organization { id } } }`;
  const { organization } = await strongroom.seed.organization();
  await strongroom.seed.withInstallationAdmin(async ({ admin }) => {
    const slug = `sub-${randomUUID().slice(0, 8)}`;
    await admin.data(
      `mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }`,
      { input: { name: slug, slug } },
    );
    const issued = await admin.post(`/api/v1/auth/token-auth/identities/${admin.identityId}/tokens`, {
      organizationSlug: slug,
    });
    const scoped = new Caller(strongroom.url, issued.body.accessToken);

    expect(await scoped.graphql(CREATE, { input: { name: 'Escape' } })).toBeError(403, 'PERMISSION_DENIED');
    expect(await scoped.graphql(DELETE, { input: { id: organization.id } })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
    expect((await admin.graphql(DELETE, { input: { id: organization.id } })).status).toBe(200);
  });
});
