import { randomUUID } from 'node:crypto';
import { mintClientSecret, mintToken } from '../../../src/kernel/crypto/token.js';
import { otherNodeInAll, rounds } from '../../kit/scope.js';
import { useMovedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { untilWaiting } from '../../kit/waiting.js';
import { makeClient, universalAuthPath } from './scenario.js';

const ELSEWHERE = [{ ipAddress: '203.0.113.0/24' }];
const HERE = [{ ipAddress: '127.0.0.0/8' }, { ipAddress: '::1' }];

const strongroom = useMovedStrongroom();

describe('a login with client id and client secret', () => {
  const probe = (token: string) =>
    strongroom.admin.anonymous.get('/api/v1/identities', { authorization: `Bearer ${token}` });

  test('answers a token that lives as the universal-auth configuration says', async () => {
    const { admin } = await strongroom.seed.organization();
    const settings = { accessTokenTTL: 600, accessTokenMaxTTL: 3_600, accessTokenNumUsesLimit: 2 };
    const { identityId, clientSecretId, logIn } = await makeClient(admin, { auth: settings });

    const { status, body, headers } = await logIn();

    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^srt_/),
      expiresIn: 600,
      accessTokenMaxTTL: 3_600,
      tokenType: 'Bearer',
    });
    const { tokens } = (await admin.get(`/api/v1/auth/token-auth/identities/${identityId}/tokens`)).body;
    expect(tokens).toMatchObject([
      { authMethod: 'universal-auth', identityUAClientSecretId: clientSecretId, ...settings, name: null },
    ]);
    // Known, and without a role. The third use is one too many.
    expect(await probe(body.accessToken)).toBeError(403, 'PERMISSION_DENIED');
    expect(await probe(body.accessToken)).toBeError(403, 'PERMISSION_DENIED');
    expect(await probe(body.accessToken)).toBeError(401, 'TOKEN_USES_EXHAUSTED');
  });

  test('answers a token that can be renewed and revoked as any other', async () => {
    const { admin } = await strongroom.seed.organization();
    const { logIn } = await makeClient(admin, { auth: { accessTokenTTL: 1_200, accessTokenMaxTTL: 6_000 } });
    const { accessToken } = (await logIn()).body;
    await strongroom.advanceClock(900);
    expect((await admin.anonymous.post('/api/v1/auth/token/renew', { accessToken })).body).toMatchObject({
      accessToken,
      expiresIn: 1_200,
    });
    await strongroom.advanceClock(900);
    expect(await probe(accessToken)).toBeError(403, 'PERMISSION_DENIED');
    expect((await admin.anonymous.post('/api/v1/auth/token/revoke', { accessToken })).status).toBe(200);
    expect(await probe(accessToken)).toBeError(401, 'TOKEN_REVOKED');
  });

  test('is counted exactly: a secret of 10 logins gives 10 among 50 at two nodes', async () => {
    const { admin } = await strongroom.seed.organization();
    const second = await otherNodeInAll(strongroom);
    for (let round = 0; round < rounds(10); round += 1) {
      const { identityId, clientSecretId, logIn } = await makeClient(admin, { secret: { numUsesLimit: 10 } });
      const nodes = [admin.patient, admin.patient.at(second.url)];

      const replies = await Promise.all(Array.from({ length: 50 }, (_, index) => logIn({}, nodes[index % 2])));

      const tokens = new Set(replies.filter(({ status }) => status === 200).map(({ body }) => body.accessToken));
      expect(tokens.size).toBe(10);
      for (const reply of replies.filter(({ status }) => status !== 200))
        expect(reply).toBeError(401, 'CLIENT_SECRET_USES_EXHAUSTED');
      const { body } = await admin.get(`${universalAuthPath(identityId)}/client-secrets/${clientSecretId}`);
      expect(body.clientSecretData.clientSecretNumUses).toBe(10);
      expect(body.clientSecretData.clientSecretLastUsedAt).not.toBeNull();
    }
  });

  test('shares what it needs of the database with others that come at once; each has its token, its count and its record', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { identityId, clientSecretId, logIn } = await makeClient(admin);
    await logIn();

    const { count, result: replies } = await strongroom.statements(() =>
      Promise.all(Array.from({ length: 30 }, () => logIn({}, admin.patient))),
    );

    expect(count).toBeLessThan((30 * 7) / 2);
    expect(new Set(replies.map(({ body }) => body.accessToken)).size).toBe(30);
    const { body } = await admin.get(`${universalAuthPath(identityId)}/client-secrets/${clientSecretId}`);
    expect(body.clientSecretData.clientSecretNumUses).toBe(31);
    const rows = await strongroom.auditRows(`action = 'identity-universal-auth:login' and organization_id = $1`, [
      organization.id,
    ]);
    const distinct = (values: readonly unknown[]) => new Set(values).size;
    expect(rows.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 31 }, () => 'allowed'));
    expect([
      distinct(rows.map(({ request_id }) => request_id)),
      distinct(rows.map(({ facts }) => facts.accessTokenId)),
    ]).toEqual([31, 31]);
  });

  test('takes the same few statements, whatever the number of client secrets and tokens', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId, logIn } = await makeClient(admin);
    await logIn();
    const before = await strongroom.statements(() => logIn());
    for (let more = 0; more < 20; more += 1) {
      await admin.post(`${universalAuthPath(identityId)}/client-secrets`, {});
      await logIn();
    }
    const after = await strongroom.statements(() => logIn());
    // Look up, begin, count, make, record, refuse when it is late, commit: in three round trips.
    expect([before.count, after.count]).toEqual([7, 7]);
    expect(after.result.status).toBe(200);
  });

  test('tells who has no right secret one thing only', async () => {
    const { admin } = await strongroom.seed.organization();
    const { clientId, clientSecret } = await makeClient(admin);
    const other = await makeClient(admin);
    const path = '/api/v1/auth/universal-auth/login';
    const wrong = [
      { clientId: randomUUID(), clientSecret },
      { clientId: 'no-uuid', clientSecret },
      { clientId: '', clientSecret: '' },
      { clientId, clientSecret: mintClientSecret() },
      { clientId, clientSecret: mintToken() },
      { clientId, clientSecret: ` ${clientSecret}` },
      { clientId, clientSecret: clientSecret.toUpperCase() },
      { clientId, clientSecret: other.clientSecret },
      { clientId: other.clientId, clientSecret },
    ];
    const replies = await Promise.all(wrong.map((body) => admin.anonymous.post(path, body)));
    for (const reply of replies) expect(reply).toBeError(401, 'CREDENTIALS_INVALID');
    const comparable = replies.map(({ text, headers }) => text.replaceAll(String(headers['x-request-id']), ''));
    expect(new Set(comparable).size).toBe(1);
    const reply = await admin.anonymous.post(path, { clientId: clientId.toUpperCase(), clientSecret });
    expect(reply.status).toBe(200);
  });

  test('says so of a right secret that is revoked, expired, spent or elsewhere, and counts nothing', async () => {
    const { admin } = await strongroom.seed.organization();
    const revoked = await makeClient(admin);
    await admin.post(`${universalAuthPath(revoked.identityId)}/client-secrets/${revoked.clientSecretId}/revoke`);
    const elsewhere = await makeClient(admin, { auth: { clientSecretTrustedIps: ELSEWHERE } });
    const expired = await makeClient(admin, { secret: { ttl: 60 } });
    const spent = await makeClient(admin, { secret: { numUsesLimit: 1 } });
    await spent.logIn();
    await strongroom.advanceClock(60);
    const cases = [
      [revoked, 'CLIENT_SECRET_REVOKED', 0],
      [elsewhere, 'CLIENT_SECRET_ADDRESS_REFUSED', 0],
      [expired, 'CLIENT_SECRET_EXPIRED', 0],
      [spent, 'CLIENT_SECRET_USES_EXHAUSTED', 1],
    ] as const;
    for (const [client, code, uses] of cases) {
      expect(await client.logIn()).toBeError(401, code);
      expect(await client.logIn({ clientSecret: mintClientSecret() })).toBeError(401, 'CREDENTIALS_INVALID');
      const path = `${universalAuthPath(client.identityId)}/client-secrets/${client.clientSecretId}`;
      expect((await admin.get(path)).body.clientSecretData.clientSecretNumUses).toBe(uses);
    }
  });

  test('reads the networks live: those of client secrets for logins, those of tokens for tokens', async () => {
    const { admin } = await strongroom.seed.organization();
    const auth = { clientSecretTrustedIps: HERE, accessTokenTrustedIps: ELSEWHERE };
    const { identityId, logIn } = await makeClient(admin, { auth });
    // Token authentication lets this address in, which is not how these tokens came to be.
    await admin.post(`/api/v1/auth/token-auth/identities/${identityId}`, { accessTokenTrustedIps: HERE });
    const { accessToken } = (await logIn()).body;
    expect(await probe(accessToken)).toBeError(401, 'TOKEN_ADDRESS_REFUSED');
    const path = universalAuthPath(identityId);
    await admin.patch(path, { clientSecretTrustedIps: ELSEWHERE, accessTokenTrustedIps: HERE });
    expect(await probe(accessToken)).toBeError(403, 'PERMISSION_DENIED');
    expect(await logIn()).toBeError(401, 'CLIENT_SECRET_ADDRESS_REFUSED');
    await admin.patch(`/api/v1/auth/token-auth/identities/${identityId}`, { accessTokenTrustedIps: ELSEWHERE });
    expect(await probe(accessToken)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('can be scoped to a sub-organization that the identity is a member of', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId, clientSecretId, logIn } = await makeClient(admin);
    const slug = `sub-${randomUUID().slice(0, 8)}`;
    const { createSubOrganization } = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
      { input: { name: slug, slug } },
    );
    const { id } = createSubOrganization.organization;
    expect(await logIn({ organizationSlug: slug })).toBeError(401, 'TOKEN_SCOPE_REFUSED');
    expect(await logIn({ organizationSlug: 'nobodys' })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
    const path = `${universalAuthPath(identityId)}/client-secrets/${clientSecretId}`;
    expect((await admin.get(path)).body.clientSecretData.clientSecretNumUses).toBe(0);
    await admin.data(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { organizationId: id, identityId, roleSlug: 'member' } },
    );
    const { accessToken } = (await logIn({ organizationSlug: slug })).body;
    const { body } = await admin.anonymous.post(
      '/graphql',
      { query: '{ organization { id } }' },
      { authorization: `Bearer ${accessToken}` },
    );
    expect(body.data.organization.id).toBe(id);
  });

  test('is in the audit trail, let in or refused, when the client id is known', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { identityId, clientSecretId, clientId, logIn } = await makeClient(admin);
    await logIn();
    await logIn({ clientSecret: mintClientSecret() });
    await admin.post(`${universalAuthPath(identityId)}/client-secrets/${clientSecretId}/revoke`);
    await logIn();
    await logIn({ clientId: randomUUID() });

    const rows = await strongroom.auditRows(`action = 'identity-universal-auth:login' and organization_id = $1`, [
      organization.id,
    ]);

    expect(rows.map(({ outcome, actor_id, token_id, facts }) => [outcome, actor_id, token_id, facts])).toEqual([
      ['allowed', identityId, null, { identityId, clientSecretId, accessTokenId: expect.any(String) }],
      ['denied', identityId, null, { identityId, reason: 'CREDENTIALS_INVALID' }],
      ['denied', identityId, null, { identityId, reason: 'CLIENT_SECRET_REVOKED' }],
    ]);
    expect(JSON.stringify(rows)).not.toContain(clientId);
  });

  test('with a wrong secret waits for the same whether the client id is known or not', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { clientId, identityId } = await makeClient(admin);
    const clientSecret = mintClientSecret();
    const attempt = (id: string) =>
      admin.anonymous.post('/api/v1/auth/universal-auth/login', { clientId: id, clientSecret });
    // While nothing can be recorded, only what is answered without a record is answered.
    await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin; lock table audit_record in access exclusive mode');
      for (const id of [clientId, randomUUID()]) expect(await attempt(id)).toBeError(401, 'CREDENTIALS_INVALID');
      await client.query('rollback');
    });
    await until('the record of the refused login', 20_000, async () => {
      const rows = await strongroom.auditRows(`outcome = 'denied' and organization_id = $1`, [organization.id]);
      return rows.length === 1 && rows[0]?.actor_id === identityId;
    });
  });

  test('works over GraphQL too, with what is kept of the token', async () => {
    const { admin } = await strongroom.seed.organization();
    const { clientId, clientSecret, identityId } = await makeClient(admin);
    const { logInWithUniversalAuth } = await admin.anonymous.data(
      `mutation ($input: LogInWithUniversalAuthInput!) {
        logInWithUniversalAuth(input: $input) { accessToken tokenType tokenData { identityId authMethod } }
      }`,
      { input: { clientId, clientSecret } },
    );
    expect(logInWithUniversalAuth).toEqual({
      accessToken: expect.stringMatching(/^srt_/),
      tokenType: 'Bearer',
      tokenData: { identityId, authMethod: 'UNIVERSAL_AUTH' },
    });
  });

  test('that finds its secret revoked while it waited says so, and leaves no token', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId, clientSecretId, logIn } = await makeClient(admin);
    const replies = await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query('select from identity where id = $1 for update', [identityId]);
      const sent = Array.from({ length: 5 }, () => logIn());
      await untilWaiting(strongroom, 1, sent[0]);
      await client.query('update universal_auth_client_secret set is_revoked = true where id = $1', [clientSecretId]);
      await client.query('commit');
      return Promise.all(sent);
    });
    for (const reply of replies) expect(reply).toBeError(401, 'CLIENT_SECRET_REVOKED');
    const left = await strongroom.sql(
      'select from access_token where identity_id = $1 union all select from universal_auth_client_secret where id = $2 and num_uses > 0',
      [identityId, clientSecretId],
    );
    expect(left).toEqual([]);
  });

  test('of an identity that is being deleted ends one way or the other', async () => {
    const { admin } = await strongroom.seed.organization();
    for (let round = 0; round < rounds(10); round += 1) {
      const { identityId, logIn } = await makeClient(admin);
      const replies = Array.from({ length: 8 }, () => logIn({}, admin.patient));
      const deleted = admin.patient.delete(
        round % 2 === 0 ? `/api/v1/identities/${identityId}` : universalAuthPath(identityId),
      );
      expect((await deleted).status).toBe(200);
      for (const reply of await Promise.all(replies)) {
        if (reply.status !== 200) expect(reply).toBeError(401, 'CREDENTIALS_INVALID');
      }
      const left = await strongroom.sql('select 1 from access_token where identity_id = $1', [identityId]);
      expect(left).toEqual([]);
    }
  });
});

describe('a header that is sent with a login, a renewal or a revocation', () => {
  test('is not looked at: clients send what they have, however old', async () => {
    const { admin } = await strongroom.seed.organization();
    const auth = { accessTokenTTL: 60, accessTokenMaxTTL: 600, accessTokenNumUsesLimit: 1 };
    const { clientId, clientSecret, logIn } = await makeClient(admin, { auth });
    const { accessToken: old } = (await logIn()).body;
    await strongroom.advanceClock(61);
    const login = (authorization: string) =>
      admin.anonymous.post('/api/v1/auth/universal-auth/login', { clientId, clientSecret }, { authorization });

    for (const authorization of [`Bearer ${old}`, 'Bearer ', 'Bearer', 'Basic YTpi', 'nonsense']) {
      expect((await login(authorization)).status).toBe(200);
    }

    const { accessToken } = (await logIn()).body;
    const bearer = { authorization: `Bearer ${accessToken}` };
    const renewed = await admin.anonymous.post('/api/v1/auth/token/renew', { accessToken }, bearer);
    expect(renewed.status).toBe(200);
    // The one use that it has is still there.
    expect(await admin.anonymous.get('/api/v1/identities', bearer)).toBeError(403, 'PERMISSION_DENIED');
    expect(await admin.anonymous.get('/api/v1/identities', bearer)).toBeError(401, 'TOKEN_USES_EXHAUSTED');
  });
});
