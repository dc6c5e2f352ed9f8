import { useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld } from '../../kit/world.js';

const strongroom = useSharedStrongroom();

describe('how often a token or a client secret was used', () => {
  test.each([
    ['2147483647', 2_147_483_647],
    ['2147483648', 2_147_483_647],
    ['9007199254740993', 2_147_483_647],
  ])('%s times is %i in both interfaces', async (stored, shown) => {
    const { world, admin } = await seedWorld(strongroom.seed, ['accessToken', 'clientSecret']);
    await strongroom.sql('update access_token set num_uses = $1 where id = $2', [stored, world.accessToken]);
    await strongroom.sql('update universal_auth_client_secret set num_uses = $1 where id = $2', [
      stored,
      world.clientSecret,
    ]);
    const data = await admin.data(
      `query ($token: ID!, $identityId: ID!, $secret: ID!) {
        accessToken(id: $token) { useCount }
        clientSecret(identityId: $identityId, id: $secret) { useCount }
      }`,
      { token: world.accessToken, identityId: world.identity, secret: world.clientSecret },
    );
    expect(data).toEqual({
      accessToken: { useCount: shown },
      clientSecret: { useCount: shown },
    });
    const token = await admin.get(`/api/v1/auth/token-auth/tokens/${world.accessToken}`);
    expect(token.body.token.accessTokenNumUses).toBe(shown);
    const secrets = `/api/v1/auth/universal-auth/identities/${world.identity}/client-secrets`;
    const secret = await admin.get(`${secrets}/${world.clientSecret}`);
    expect(secret.body.clientSecretData.clientSecretNumUses).toBe(shown);
  });
});
