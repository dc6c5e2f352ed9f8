import { useMovedStrongroom } from '../../kit/strongroom.js';
import { makeClient, makeIdentity, makeToken, universalAuthPath } from './scenario.js';

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const tokenAuthPath = (identityId: string): string => `/api/v1/auth/token-auth/identities/${identityId}`;

describe('the longest life of a token', () => {
  const strongroom = useMovedStrongroom();
  const probe = (token: string) => strongroom.admin.anonymous.get('/api/v1/identities', bearer(token));
  const UNLIMITED_BELOW_MAXIMUM = { accessTokenTTL: 0, accessTokenMaxTTL: 2 };
  const pathsOf = ({ body }: { body: { details: { path: string }[] } }): string[] =>
    body.details.map(({ path }) => path);

  test('leaves no room for tokens without an end: 0 is no limit, and is refused below a maximum', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin);
    const user = await strongroom.seed.user(admin);
    for (const path of [tokenAuthPath(identityId), universalAuthPath(identityId)]) {
      const reply = await admin.post(path, UNLIMITED_BELOW_MAXIMUM);
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(pathsOf(reply)).toEqual(['body.accessTokenTTL']);
    }
    const personal = await admin.graphql(
      'mutation ($input: CreatePersonalAccessTokenInput!) { createPersonalAccessToken(input: $input) { accessToken } }',
      { input: { userId: user.userId, ttlSeconds: 0, maxTtlSeconds: 2 } },
    );
    expect(personal).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf({ body: personal.body.errors[0].extensions })).toEqual(['input.ttlSeconds']);
  });

  test('is judged with what is stored, whichever side changes, and the changed side is named', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenTTL: 0, accessTokenMaxTTL: 0 });
    await admin.post(universalAuthPath(identityId), { accessTokenTTL: 0, accessTokenMaxTTL: 0 });
    for (const path of [tokenAuthPath(identityId), universalAuthPath(identityId)]) {
      const below = await admin.patch(path, { accessTokenMaxTTL: 60 });
      expect(below).toBeError(422, 'VALIDATION_FAILED');
      expect(pathsOf(below)).toEqual(['body.accessTokenMaxTTL']);
      expect((await admin.patch(path, { accessTokenTTL: 60, accessTokenMaxTTL: 60 })).status).toBe(200);
      const without = await admin.patch(path, { accessTokenTTL: 0 });
      expect(without).toBeError(422, 'VALIDATION_FAILED');
      expect(pathsOf(without)).toEqual(['body.accessTokenTTL']);
      expect((await admin.patch(path, { accessTokenTTL: 0, accessTokenMaxTTL: 0 })).status).toBe(200);
    }
  });

  test('ends a token by itself, whatever was stored as its expiry', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { logIn } = await makeClient(admin, { auth: { accessTokenTTL: 60, accessTokenMaxTTL: 60 } });
    const made = [
      (await makeToken(admin, await makeIdentity(admin, {}))).accessToken,
      (await logIn()).body.accessToken as string,
      (await strongroom.seed.user(admin)).token as string,
    ];
    // Rows like these were stored while 0 passed for less than any maximum.
    await strongroom.sql(
      'update access_token set ttl_seconds = 0, max_ttl_seconds = 60, expires_at = null where organization_id = $1',
      [organization.id],
    );
    for (const token of made) expect((await probe(token)).status).not.toBe(401);
    await strongroom.advanceClock(61);
    for (const token of made) {
      expect(await probe(token)).toBeError(401, 'TOKEN_EXPIRED');
      expect(await admin.anonymous.post('/api/v1/auth/token/renew', { accessToken: token })).toBeError(
        401,
        'TOKEN_EXPIRED',
      );
    }
  });
});
