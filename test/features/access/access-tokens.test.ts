import { randomUUID } from 'node:crypto';
import { useMovedStrongroom } from '../../kit/strongroom.js';
import { makeIdentity, makeToken } from './scenario.js';

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const strongroom = useMovedStrongroom();

describe('creating a token', () => {
  test('answers exactly the fields of the interface', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, {
      accessTokenTTL: 60,
      accessTokenMaxTTL: 120,
      accessTokenNumUsesLimit: 5,
    });
    const { status, body, headers } = await admin.post(`/api/v1/auth/token-auth/identities/${identityId}/tokens`, {
      name: 'ci',
    });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^srt_[\w-]{49}$/),
      expiresIn: 60,
      accessTokenMaxTTL: 120,
      tokenType: 'Bearer',
      tokenData: {
        id: expect.any(String),
        identityId,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        authMethod: 'token-auth',
        accessTokenTTL: 60,
        accessTokenMaxTTL: 120,
        accessTokenNumUses: 0,
        accessTokenNumUsesLimit: 5,
        accessTokenLastUsedAt: null,
        accessTokenLastRenewedAt: null,
        isAccessTokenRevoked: false,
        identityUAClientSecretId: null,
        name: 'ci',
        accessTokenPeriod: 0,
        subOrganizationId: null,
      },
    });
  });

  test('is refused for unknown and foreign identities with the same 404, and without configuration', async () => {
    const { admin } = await strongroom.seed.organization();
    const foreign = await makeIdentity((await strongroom.seed.organization()).admin, {});
    const tokensOf = (id: string): string => `/api/v1/auth/token-auth/identities/${id}/tokens`;
    for (const id of [foreign, randomUUID(), 'no-uuid']) {
      expect(await admin.post(tokensOf(id), {})).toBeError(404, 'IDENTITY_NOT_FOUND');
    }
    expect(await admin.post(tokensOf(await makeIdentity(admin)), {})).toBeError(404, 'TOKEN_AUTH_NOT_FOUND');
  });

  test('is refused without the right, whether or not the identity exists', async () => {
    const { admin } = await strongroom.seed.organization();
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    for (const id of [await makeIdentity(admin, {}), randomUUID()]) {
      const reply = await member.post(`/api/v1/auth/token-auth/identities/${id}/tokens`, {});
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
    }
  });

  test('reports every fault of the body at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeIdentity(admin, {});
    const body = { name: 'x'.repeat(65), organizationSlug: 'Not A Slug' };
    const reply = await admin.post(`/api/v1/auth/token-auth/identities/${id}/tokens`, body);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body.name',
      'body.organizationSlug',
    ]);
  });

  test('for the admin of the installation is refused to every other admin', async () => {
    await strongroom.seed.withInstallationAdmin(async ({ admin: first }) => {
      const admin = await strongroom.seed.caller(first, { organizationRole: 'admin' });
      const reply = await admin.post(`/api/v1/auth/token-auth/identities/${first.identityId}/tokens`, {});
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
    });
  });

  test('scopes it to a sub-organization of which the identity is a member', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, {});
    const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
    const sub = (
      await admin.graphql(
        'mutation { createSubOrganization(input: { name: "Team", slug: "team" }) { organization { id } } }',
      )
    ).body.data.createSubOrganization.organization;
    expect(await admin.post(path, { organizationSlug: 'other' })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
    expect(await admin.post(path, { organizationSlug: 'team' })).toBeError(401, 'TOKEN_SCOPE_REFUSED');
    await admin.graphql(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { member { id } } }',
      { input: { organizationId: sub.id, identityId, roleSlug: 'member' } },
    );
    const { body } = await admin.post(path, { organizationSlug: 'team' });
    expect(body.tokenData.subOrganizationId).toBe(sub.id);
    const reply = await admin.anonymous.post(
      '/graphql',
      { query: '{ organization { id } }' },
      bearer(body.accessToken),
    );
    expect(reply.body.data.organization.id).toBe(sub.id);
  });
});

describe('managing tokens', () => {
  test('lists them newest change first, whole or in pages', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, {});
    const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
    for (const name of ['one', 'two', 'three']) await makeToken(admin, identityId, { name });
    const all = (await admin.get(path)).body;
    expect(all.nextCursor).toBeUndefined();
    const names = all.tokens.map(({ name }: { name: string }) => name);
    expect([...names].sort()).toEqual(['one', 'three', 'two']);
    const first = (await admin.get(`${path}?limit=2`)).body;
    const rest = (await admin.get(`${path}?limit=2&cursor=${first.nextCursor}`)).body;
    expect([...first.tokens, ...rest.tokens]).toEqual(all.tokens);
    expect(rest.nextCursor).toBeUndefined();
    expect((await admin.get(`${path}?offset=1`)).body.tokens).toEqual(all.tokens.slice(1));
    expect(await admin.get(`${path}?limit=101`)).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.get(`${path}?cursor=bm9wZQ`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('reads, renames and revokes one; a revoked one stops at once and is not found to revoke again', async () => {
    const { admin } = await strongroom.seed.organization();
    const { accessToken, tokenData } = await makeToken(admin, await makeIdentity(admin, {}), { name: 'old' });
    const path = `/api/v1/auth/token-auth/tokens/${tokenData.id}`;
    expect((await admin.get(path)).body.token.name).toBe('old');
    expect((await admin.patch(path, { name: 'new' })).body.token.name).toBe('new');
    expect((await admin.post(`${path}/revoke`)).body).toEqual({ message: expect.any(String) });
    expect(await admin.anonymous.get('/api/v1/identities', bearer(accessToken))).toBeError(401, 'TOKEN_REVOKED');
    expect(await admin.post(`${path}/revoke`)).toBeError(404, 'TOKEN_NOT_FOUND');
  });

  test('answers foreign and unknown tokens alike, and tells nobody without rights whether there is one', async () => {
    const { admin } = await strongroom.seed.organization();
    const { admin: foreigner } = await strongroom.seed.organization();
    const foreign = await makeToken(foreigner, await makeIdentity(foreigner, {}));
    const own = await makeToken(admin, await makeIdentity(admin, {}));
    const stranger = await strongroom.seed.caller(admin, { organizationRole: 'no-access' });
    for (const id of [foreign.tokenData.id, randomUUID(), 'no-uuid']) {
      expect(await admin.get(`/api/v1/auth/token-auth/tokens/${id}`)).toBeError(404, 'TOKEN_NOT_FOUND');
    }
    for (const id of [own.tokenData.id, randomUUID()]) {
      expect(await stranger.get(`/api/v1/auth/token-auth/tokens/${id}`)).toBeError(403, 'PERMISSION_DENIED');
    }
  });
});

describe('holding a token', () => {
  const RENEW = '/api/v1/auth/token/renew';
  const REVOKE = '/api/v1/auth/token/revoke';

  test('renews it from now on, and past the max TTL is refused and changes nothing', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenTTL: 3600, accessTokenMaxTTL: 7200 });
    const { accessToken, tokenData } = await makeToken(admin, identityId);
    const { anonymous } = admin;
    await strongroom.advanceClock(1800);
    expect((await anonymous.post(RENEW, { accessToken })).body).toEqual({
      accessToken,
      expiresIn: 3600,
      accessTokenMaxTTL: 7200,
      tokenType: 'Bearer',
    });
    await strongroom.advanceClock(2400);
    const before = (await admin.get(`/api/v1/auth/token-auth/tokens/${tokenData.id}`)).body;
    expect(await anonymous.post(RENEW, { accessToken })).toBeError(401, 'TOKEN_MAX_TTL_EXCEEDED');
    expect((await admin.get(`/api/v1/auth/token-auth/tokens/${tokenData.id}`)).body).toEqual(before);
    expect(await anonymous.get('/api/v1/identities', bearer(accessToken))).toBeError(403, 'PERMISSION_DENIED');
    await strongroom.advanceClock(1300);
    expect(await anonymous.post(RENEW, { accessToken })).toBeError(401, 'TOKEN_EXPIRED');
  });

  test('revokes it, names the owner in the audit trail, and does not work twice', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, {});
    const { accessToken, tokenData } = await makeToken(admin, identityId);
    expect((await admin.anonymous.post(REVOKE, { accessToken })).body).toEqual({ message: expect.any(String) });
    expect(await admin.anonymous.post(REVOKE, { accessToken })).toBeError(401, 'TOKEN_REVOKED');
    expect(await admin.anonymous.post(RENEW, { accessToken })).toBeError(401, 'TOKEN_REVOKED');
    const rows = await strongroom.auditRows('token_id = $1', [tokenData.id]);
    expect(rows.map((row) => [row.action, row.actor_id])).toEqual([['access-token:revoke', identityId]]);
  });

  test('is needed: other texts are TOKEN_INVALID', async () => {
    for (const accessToken of ['', 'srt_', `srt_${'A'.repeat(49)}`]) {
      expect(await strongroom.admin.anonymous.post(RENEW, { accessToken })).toBeError(401, 'TOKEN_INVALID');
    }
  });
});

describe('a personal access token', () => {
  const CREATE = `mutation ($input: CreatePersonalAccessTokenInput!) {
    createPersonalAccessToken(input: $input) { accessToken tokenData { id userId identityId authMethod } }
  }`;

  test('is first made by an admin, and then by the user itself, for nobody else', async () => {
    const { admin } = await strongroom.seed.organization();
    const newUser = async (username: string): Promise<string> =>
      (
        await admin.graphql('mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }', {
          input: { username, roleSlug: 'no-access' },
        })
      ).body.data.createUser.user.id;
    const [ada, bob] = [await newUser('ada'), await newUser('bob')];
    const first = (await admin.graphql(CREATE, { input: { userId: ada } })).body.data.createPersonalAccessToken;
    expect(first.tokenData).toEqual({ id: expect.any(String), userId: ada, identityId: null, authMethod: 'PERSONAL' });
    const asAda = (query: string, variables: object = {}) =>
      admin.anonymous.post('/graphql', { query, variables }, bearer(first.accessToken));
    expect((await asAda(CREATE, { input: { userId: ada } })).body.errors).toBeUndefined();
    expect(await asAda(CREATE, { input: { userId: bob } })).toBeError(403, 'PERMISSION_DENIED');
    const list = `query ($userId: ID!) { personalAccessTokens(userId: $userId) { nodes { id } } }`;
    expect((await asAda(list, { userId: ada })).body.data.personalAccessTokens.nodes).toHaveLength(2);
    expect(await asAda(list, { userId: bob })).toBeError(403, 'PERMISSION_DENIED');
    const revoke = 'mutation ($input: RevokeAccessTokenInput!) { revokeAccessToken(input: $input) { message } }';
    expect((await asAda(revoke, { input: { id: first.tokenData.id } })).body.errors).toBeUndefined();
    expect(await asAda(list, { userId: ada })).toBeError(401, 'TOKEN_REVOKED');
  });
});
