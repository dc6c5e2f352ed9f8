import type { GraphQLFormattedError } from 'graphql';
import { Caller } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld, type World } from '../../kit/world.js';

const strongroom = useSharedStrongroom();

const TOKEN = `query ($id: ID!) { accessToken(id: $id) {
  identityId identity { id tokenAuth { identityId identity { id } } universalAuth { clientId identity { id } } }
  userId user { id }
  subOrganizationId subOrganization { id }
  makerTokenId makerToken { id }
  clientSecretId clientSecret { id identityId identity { id } }
} }`;

const NOTHING = {
  userId: null,
  user: null,
  subOrganizationId: null,
  subOrganization: null,
  makerTokenId: null,
  makerToken: null,
  clientSecretId: null,
  clientSecret: null,
};

const logIn = async (admin: Caller, { clientId, heldClientSecret }: World, organizationSlug?: string) =>
  (
    await admin.data(
      `mutation ($input: LogInWithUniversalAuthInput!) {
        logInWithUniversalAuth(input: $input) { accessToken tokenData { id } }
      }`,
      { input: { clientId, clientSecret: heldClientSecret, organizationSlug } },
    )
  ).logInWithUniversalAuth;

describe('what the ids of a token lead to', () => {
  test('is its identity with both configurations, its client secret and its sub-organization', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, ['identity', 'clientSecret', 'subOrganization']);
    const { tokenData } = await logIn(admin, world, world.subSlug);
    const identity = { id: world.identity };
    expect((await admin.data(TOKEN, { id: tokenData.id })).accessToken).toEqual({
      ...NOTHING,
      identityId: world.identity,
      identity: {
        ...identity,
        tokenAuth: { identityId: world.identity, identity },
        universalAuth: { clientId: world.clientId, identity },
      },
      subOrganizationId: world.subOrganization,
      subOrganization: { id: world.subOrganization },
      clientSecretId: world.clientSecret,
      clientSecret: { id: world.clientSecret, identityId: world.identity, identity },
    });
  });

  test('is its user, and the token that made it', async () => {
    const { admin } = await strongroom.seed.organization();
    const user = await strongroom.seed.user(admin);
    const made = await user.data(
      `mutation ($input: CreatePersonalAccessTokenInput!) {
        createPersonalAccessToken(input: $input) { tokenData { id makerTokenId makerToken { id userId } } }
      }`,
      { input: { userId: user.userId } },
    );
    const { id, makerTokenId, makerToken } = made.createPersonalAccessToken.tokenData;
    expect(makerToken).toEqual({ id: makerTokenId, userId: user.userId });
    expect((await admin.data(TOKEN, { id })).accessToken).toMatchObject({
      identity: null,
      user: { id: user.userId },
      makerToken: { id: makerTokenId },
    });
  });

  test('takes one statement for each kind, however many tokens there are', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, ['identity', 'clientSecret', 'subOrganization']);
    const LIST = `query ($id: ID!, $first: Int!) { accessTokens(identityId: $id, first: $first) { nodes {
      identity { id tokenAuth { identityId } universalAuth { identityId } } clientSecret { id }
    } } }`;
    for (let made = 0; made < 5; made += 1) await logIn(admin, world);
    const count = async (first: number): Promise<number> =>
      (await strongroom.statements(() => admin.data(LIST, { id: world.identity, first }))).count;
    await count(1);
    expect(await count(5)).toBe(await count(1));
  });

  test('is null with PERMISSION_DENIED for a holder without rights, whose own token shows the ids', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, ['identity', 'clientSecret', 'subOrganization']);
    const { accessToken } = await logIn(admin, world);
    await admin.patch(`/api/v1/identities/${world.identity}`, { role: 'no-access' });
    const holder = new Caller(admin.url, accessToken);
    const { data, errors } = (
      await holder.graphql('{ viewer { token { identityId identity { id } clientSecretId clientSecret { id } } } }')
    ).body;
    expect(data.viewer.token).toEqual({
      identityId: world.identity,
      identity: null,
      clientSecretId: world.clientSecret,
      clientSecret: null,
    });
    // In the order in which they were found.
    const reported = errors.map(
      ({ path, extensions }: GraphQLFormattedError) => `${path?.join('.')} ${extensions?.code}`,
    );
    expect(reported.sort()).toEqual(
      ['clientSecret', 'identity'].map((field) => `viewer.token.${field} PERMISSION_DENIED`),
    );
  });
});

test('a new organization shows its first admin, though it is another organization', async () => {
  const { createOrganization } = await strongroom.admin.data(
    `mutation { createOrganization(input: { name: "New" }) { organization { id } identityId identity { id organizationId roleSlug } } }`,
  );
  const { organization, identityId, identity } = createOrganization;
  expect(identity).toEqual({ id: identityId, organizationId: organization.id, roleSlug: 'admin' });
});
