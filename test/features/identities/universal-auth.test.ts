import { randomUUID } from 'node:crypto';
import { useMovedStrongroom } from '../../kit/strongroom.js';
import { makeClient, makeIdentity, universalAuthPath as pathOf } from '../access/scenario.js';

const strongroom = useMovedStrongroom();

describe('the universal-auth configuration', () => {
  test('has a client id of its own, and without settings lets everybody in for 30 days', async () => {
    const { admin } = await strongroom.seed.organization();
    const [one, other] = [await makeIdentity(admin), await makeIdentity(admin)];

    const attached = (await admin.post(pathOf(one), {})).body.identityUniversalAuth;
    const { clientId } = (await admin.post(pathOf(other), {})).body.identityUniversalAuth;

    const everywhere = [{ ipAddress: '0.0.0.0/0' }, { ipAddress: '::/0' }];
    expect(attached).toEqual({
      identityId: one,
      clientId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      clientSecretTrustedIps: everywhere,
      accessTokenTrustedIps: everywhere,
      accessTokenTTL: 2_592_000,
      accessTokenMaxTTL: 2_592_000,
      accessTokenNumUsesLimit: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(clientId).not.toBe(attached.clientId);
    expect((await admin.get(pathOf(one))).body.identityUniversalAuth).toEqual(attached);
    const { identity } = (await admin.get(`/api/v1/identities/${one}`)).body;
    expect(identity).toMatchObject({ hasTokenAuth: false, hasUniversalAuth: true, authMethods: ['universal-auth'] });
    expect(await admin.post(pathOf(one), {})).toBeError(409, 'UNIVERSAL_AUTH_EXISTS');
  });

  test('keeps what a change does not name, and the client id always', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeIdentity(admin);
    const settings = { accessTokenTTL: 60, accessTokenMaxTTL: 600, accessTokenNumUsesLimit: 5 };
    const before = (await admin.post(pathOf(id), settings)).body.identityUniversalAuth;

    const networks = { clientSecretTrustedIps: [{ ipAddress: '10.1.2.3/8' }] };
    const after = (await admin.patch(pathOf(id), networks)).body.identityUniversalAuth;

    expect(after).toEqual({
      ...before,
      clientSecretTrustedIps: [{ ipAddress: '10.0.0.0/8' }],
      updatedAt: expect.any(String),
    });
  });

  test('refuses a TTL above the max TTL, of one request and of two that meet', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeIdentity(admin);
    const tooLong = { accessTokenTTL: 601, accessTokenMaxTTL: 600 };
    expect(await admin.post(pathOf(id), tooLong)).toBeError(422, 'VALIDATION_FAILED');
    await admin.post(pathOf(id), { accessTokenTTL: 60, accessTokenMaxTTL: 600 });
    expect(await admin.patch(pathOf(id), { accessTokenTTL: 601 })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.patch(pathOf(id), { accessTokenMaxTTL: 59 })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.patch(pathOf(id), { clientSecretTrustedIps: [] })).toBeError(422, 'VALIDATION_FAILED');
    expect((await admin.get(pathOf(id))).body.identityUniversalAuth).toMatchObject({
      accessTokenTTL: 60,
      accessTokenMaxTTL: 600,
    });
  });

  test('goes with its client secrets and their tokens, and leaves those of token authentication', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId, logIn } = await makeClient(admin);
    await admin.post(`/api/v1/auth/token-auth/identities/${identityId}`, {});
    const tokens = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
    const { accessToken: other } = (await admin.post(tokens, {})).body;
    const { accessToken } = (await logIn()).body;

    const removed = await admin.delete(pathOf(identityId));

    expect(removed.body.identityUniversalAuth.identityId).toBe(identityId);
    const probe = (token: string) => admin.anonymous.get('/api/v1/identities', { authorization: `Bearer ${token}` });
    expect(await probe(accessToken)).toBeError(401, 'TOKEN_INVALID');
    expect(await probe(other)).toBeError(403, 'PERMISSION_DENIED');
    expect(await logIn()).toBeError(401, 'CREDENTIALS_INVALID');
    expect(await admin.get(pathOf(identityId))).toBeError(404, 'UNIVERSAL_AUTH_NOT_FOUND');
    const [row] = await strongroom.auditRows(
      `action = 'identity-universal-auth:remove' and facts->>'identityId' = $1`,
      [identityId],
    );
    expect(row?.facts).toEqual({ identityId, tokens: 1 });
  });

  test('goes with its identity', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId, logIn } = await makeClient(admin);
    await logIn();
    expect((await admin.delete(`/api/v1/identities/${identityId}`)).status).toBe(200);
    expect(await logIn()).toBeError(401, 'CREDENTIALS_INVALID');
  });

  test('of the admin of the installation is its own business', async () => {
    await strongroom.seed.withInstallationAdmin(async ({ admin }) => {
      const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
      const path = pathOf(String(admin.identityId));
      expect(await colleague.post(path, {})).toBeError(403, 'PERMISSION_DENIED');
      expect((await admin.post(path, {})).status).toBe(200);
      expect(await colleague.post(`${path}/client-secrets`, {})).toBeError(403, 'PERMISSION_DENIED');
    });
  });
});

describe('client secrets', () => {
  test('are srs_ and 49 characters, shown once, and kept as a hash', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeIdentity(admin);
    await admin.post(pathOf(id), {});

    const made = await admin.post(`${pathOf(id)}/client-secrets`, { description: 'ci', ttl: 60, numUsesLimit: 3 });

    const { clientSecret, clientSecretData } = made.body;
    expect(clientSecret).toMatch(/^srs_[A-Za-z0-9_-]{49}$/);
    expect(made.headers['cache-control']).toBe('no-store');
    expect(clientSecretData).toEqual({
      id: expect.any(String),
      identityId: id,
      description: 'ci',
      clientSecretPrefix: clientSecret.slice(4, 8),
      clientSecretTTL: 60,
      clientSecretNumUses: 0,
      clientSecretNumUsesLimit: 3,
      clientSecretLastUsedAt: null,
      isClientSecretRevoked: false,
      expiresAt: expect.any(String),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(Date.parse(clientSecretData.expiresAt) - Date.parse(clientSecretData.createdAt)).toBe(60_000);
    const path = `${pathOf(id)}/client-secrets/${clientSecretData.id}`;
    const later = [
      await admin.get(path),
      await admin.get(`${pathOf(id)}/client-secrets`),
      await admin.post(`${path}/revoke`),
    ];
    for (const { status, text } of later) {
      expect(status).toBe(200);
      expect(text).not.toContain(clientSecret.slice(8));
    }
    const [row] = await strongroom.sql('select * from universal_auth_client_secret where id = $1', [
      clientSecretData.id,
    ]);
    expect(JSON.stringify(row)).not.toContain(clientSecret.slice(8));
  });

  test('are listed newest first, whole or in pages', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeIdentity(admin);
    await admin.post(pathOf(id), {});
    const list = `${pathOf(id)}/client-secrets`;
    const made: string[] = [];
    for (const description of ['one', 'two', 'three']) {
      made.unshift((await admin.post(list, { description })).body.clientSecretData.id);
      await strongroom.advanceClock(1);
    }

    const all = (await admin.get(list)).body;
    const first = (await admin.get(`${list}?limit=2`)).body;
    const rest = (await admin.get(`${list}?limit=2&cursor=${first.nextCursor}`)).body;

    expect(all.clientSecretData.map((row: { id: string }) => row.id)).toEqual(made);
    expect(all.nextCursor).toBeUndefined();
    const ids = (page: typeof all) => page.clientSecretData.map((row: { id: string }) => row.id);
    expect([...ids(first), ...ids(rest)]).toEqual(made);
    expect(await admin.get(`${list}?cursor=bm9wZQ`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('need universal authentication, and limits that can be', async () => {
    const { admin } = await strongroom.seed.organization();
    const id = await makeIdentity(admin);
    const list = `${pathOf(id)}/client-secrets`;
    expect(await admin.post(list, {})).toBeError(404, 'UNIVERSAL_AUTH_NOT_FOUND');
    expect((await admin.get(list)).body).toEqual({ clientSecretData: [] });
    await admin.post(pathOf(id), {});
    for (const body of [{ ttl: -1 }, { ttl: 315_360_001 }, { numUsesLimit: 1.5 }, { description: 'x'.repeat(256) }]) {
      expect(await admin.post(list, body)).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('of one identity are not found below another', async () => {
    const { admin } = await strongroom.seed.organization();
    const [one, other] = [await makeClient(admin), await makeClient(admin)];
    for (const id of [other.clientSecretId, randomUUID(), 'no-uuid']) {
      const path = `${pathOf(one.identityId)}/client-secrets/${id}`;
      expect(await admin.get(path)).toBeError(404, 'CLIENT_SECRET_NOT_FOUND');
      expect(await admin.post(`${path}/revoke`)).toBeError(404, 'CLIENT_SECRET_NOT_FOUND');
    }
  });

  test('are not found to revoke twice', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId, clientSecretId } = await makeClient(admin);
    const path = `${pathOf(identityId)}/client-secrets/${clientSecretId}`;
    expect((await admin.post(`${path}/revoke`)).body.clientSecretData.isClientSecretRevoked).toBe(true);
    expect(await admin.post(`${path}/revoke`)).toBeError(404, 'CLIENT_SECRET_NOT_FOUND');
    expect((await admin.get(path)).body.clientSecretData.isClientSecretRevoked).toBe(true);
  });
});
