import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const TOKENS = '/api/v1/auth/token-auth/tokens';
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities';
const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities';
const SET = `mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }`;
const REVOKE = 'mutation ($input: RevokeAccessTokenInput!) { revokeAccessToken(input: $input) { message } }';
const REVOKE_MANY = `mutation ($input: RevokeAccessTokensInput!) { revokeAccessTokens(input: $input) { tokens { id } } }`;
const CREATE_SUB = `mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { __typename } }`;

const ownTokenId = async (caller: Caller): Promise<string> =>
  (await caller.data('{ viewer { token { id } } }')).viewer.token.id;
const canCall = async (caller: Caller): Promise<boolean> => (await caller.graphql('{ __typename }')).status === 200;
const revokeById = (by: Caller, id: string): Promise<Reply> => by.post(`${TOKENS}/${id}/revoke`, {});
const revokeHeld = (caller: Caller): Promise<Reply> =>
  caller.anonymous.post('/api/v1/auth/token/revoke', { accessToken: caller.token });
const expire = (identityId: string): Promise<unknown> =>
  strongroom.sql(`update access_token set expires_at = now() - interval '1 second' where identity_id = $1`, [
    identityId,
  ]);

/** A client secret of an identity, which it makes itself. */
async function makeSecret(caller: Caller): Promise<{ id: string; logIn: () => Promise<Caller> }> {
  const path = `${UNIVERSAL_AUTH}/${caller.identityId}`;
  const attached = await caller.post(path, {});
  const { clientId } = (attached.status === 200 ? attached : await caller.get(path)).body.identityUniversalAuth;
  const { clientSecret, clientSecretData } = mustSucceed(await caller.post(`${path}/client-secrets`, {})).body;
  const logIn = async (): Promise<Caller> => {
    const login = await caller.anonymous.post('/api/v1/auth/universal-auth/login', { clientId, clientSecret });
    return new Caller(caller.url, mustSucceed(login).body.accessToken, caller.identityId);
  };
  return { id: clientSecretData.id, logIn };
}

/** An admin for an hour, who keeps no organization its admin. */
async function adminForATime(admin: Caller): Promise<Caller> {
  const caller = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  await admin.data(SET, { input: { identityId: caller.identityId, roleSlug: 'admin', endsAt } });
  return caller;
}

/** A sub-organization. @returns its slug */
async function makeSub(admin: Caller): Promise<string> {
  const slug = `sub-${randomUUID().slice(0, 8)}`;
  await admin.data(CREATE_SUB, { input: { name: slug, slug } });
  return slug;
}

interface Scene {
  readonly admin: Caller;
  readonly tokenId: string;
  /** May do as much, and is no lasting admin. */
  readonly other: Caller;
}

/** An organization whose only lasting admin has one token. */
async function scene(): Promise<Scene> {
  const { admin } = await strongroom.seed.organization();
  return { admin, tokenId: await ownTokenId(admin), other: await adminForATime(admin) };
}

/** All ways to take the token of the admin away. */
const WAYS: Readonly<Record<string, (scene: Scene) => Promise<Reply>>> = {
  'by its text': ({ admin }) => revokeHeld(admin),
  'by its id': ({ admin, tokenId }) => revokeById(admin, tokenId),
  'by its id in GraphQL, by somebody else': ({ other, tokenId }) => other.graphql(REVOKE, { input: { id: tokenId } }),
  'with many by their ids': ({ admin, other, tokenId }) =>
    ownTokenId(other).then((id) => admin.graphql(REVOKE_MANY, { input: { ids: [id, tokenId] } })),
  'with all of the identity, by somebody else': ({ admin, other }) =>
    other.graphql(REVOKE_MANY, { input: { identityId: admin.identityId } }),
  'with token authentication': ({ admin }) => admin.delete(`${TOKEN_AUTH}/${admin.identityId}`),
};

describe('the last token of the only admin who can log in', () => {
  test.each(Object.keys(WAYS))('is not revoked %s, and is once another admin has one', async (way) => {
    const there = await scene();
    const refused = await WAYS[way]?.(there);
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused?.text).toContain('client secret');
    expect([await canCall(there.admin), await canCall(there.other)]).toEqual([true, true]);
    const records = `action in ('access-token:revoke', 'identity-token-auth:remove') and organization_id = (
      select organization_id from identity where id = $1)`;
    expect(await strongroom.auditRows(records, [there.admin.identityId])).toEqual([]);

    const second = await strongroom.seed.caller(there.admin, { organizationRole: 'admin' });
    mustSucceed((await WAYS[way]?.(there)) as Reply);
    expect([await canCall(there.admin), await canCall(second)]).toEqual([false, true]);
  });

  test('is not revoked in a preview either', async () => {
    const { admin, other, tokenId } = await scene();
    for (const which of [{ ids: [tokenId] }, { identityId: admin.identityId }])
      expect(await other.graphql(REVOKE_MANY, { input: { ...which, dryRun: true } })).toBeError(409, 'LAST_ADMIN');
    await makeSecret(admin);
    const { revokeAccessTokens } = await other.data(REVOKE_MANY, { input: { ids: [tokenId], dryRun: true } });
    expect(revokeAccessTokens.tokens).toEqual([{ id: tokenId }]);
    expect(await canCall(admin)).toBe(true);
  });

  test('is revoked once the admin has a client secret, and not with a token that it made itself', async () => {
    const { admin, tokenId } = await scene();
    mustSucceed(await admin.post(`${TOKEN_AUTH}/${admin.identityId}/tokens`, {}));
    expect(await revokeById(admin, tokenId)).toBeError(409, 'LAST_ADMIN');
    const { logIn } = await makeSecret(admin);
    mustSucceed(await revokeById(admin, tokenId));
    expect(await canCall(admin)).toBe(false);
    expect(await canCall(await logIn())).toBe(true);
  });

  test('can be renewed', async () => {
    const { admin } = await scene();
    await strongroom.sql('update access_token set max_ttl_seconds = 0 where identity_id = $1', [admin.identityId]);
    mustSucceed(await admin.anonymous.post('/api/v1/auth/token/renew', { accessToken: admin.token }));
  });

  test('is that of a user, when only a user is left', async () => {
    const { admin } = await strongroom.seed.organization();
    const user = await strongroom.seed.user(admin);
    await admin.data(SET, { input: { userId: user.userId, roleSlug: 'admin' } });
    mustSucceed(await revokeHeld(admin));
    expect(await revokeHeld(user)).toBeError(409, 'LAST_ADMIN');
    expect(await revokeById(user, await ownTokenId(user))).toBeError(409, 'LAST_ADMIN');
    const robot = await strongroom.seed.caller(user, { organizationRole: 'admin' });
    mustSucceed(await revokeHeld(user));
    expect(await canCall(robot)).toBe(true);
  });

  test('is none beside tokens that expired, nor beside admins for a time or without a token', async () => {
    const { admin } = await strongroom.seed.organization();
    const [expired, temporary, bare] = [
      await strongroom.seed.caller(admin, { organizationRole: 'admin' }),
      await adminForATime(admin),
      await strongroom.seed.caller(admin, { organizationRole: 'admin' }),
    ];
    await expire(String(expired.identityId));
    mustSucceed(await revokeHeld(bare));
    expect(await revokeHeld(admin)).toBeError(409, 'LAST_ADMIN');
    const path = `/api/v1/identities/${admin.identityId}`;
    expect(await admin.patch(path, { role: 'member' })).toBeError(409, 'LAST_ADMIN');
    expect(await temporary.delete(path)).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await admin.post(`${TOKEN_AUTH}/${bare.identityId}/tokens`, {}));
    mustSucceed(await admin.patch(path, { role: 'member' }));
  });

  test('may go when no admin could log in before', async () => {
    const { admin, other, tokenId } = await scene();
    await expire(String(admin.identityId));
    mustSucceed(await revokeById(other, tokenId));
  });

  test('of the root is also that of a sub-organization', async () => {
    const { admin } = await strongroom.seed.organization();
    await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const slug = await makeSub(admin);
    const below = mustSucceed(
      await admin.post(`${TOKEN_AUTH}/${admin.identityId}/tokens`, { organizationSlug: slug }),
    ).body;
    mustSucceed(await revokeById(admin, below.tokenData.id));
    expect(await revokeHeld(admin)).toBeError(409, 'LAST_ADMIN');
  });

  test('does not hand its last uses over to a token of a sub-organization', async () => {
    const { admin } = await strongroom.seed.organization();
    const limited = await strongroom.seed.caller(admin, {
      organizationRole: 'admin',
      tokenAuth: { accessTokenNumUsesLimit: 9 },
    });
    const slug = await makeSub(limited);
    mustSucceed(await revokeHeld(admin));
    const path = `${TOKEN_AUTH}/${limited.identityId}/tokens`;
    expect(await limited.post(path, { organizationSlug: slug })).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await limited.post(path, {}));
  });
});

describe('the last client secret of the only admin who can log in', () => {
  test('is neither revoked nor removed with its method; the tokens of its logins may be', async () => {
    const { admin } = await scene();
    const { id, logIn } = await makeSecret(admin);
    mustSucceed(await revokeHeld(admin));
    const caller = await logIn();
    const path = `${UNIVERSAL_AUTH}/${admin.identityId}`;
    expect(await caller.post(`${path}/client-secrets/${id}/revoke`, {})).toBeError(409, 'LAST_ADMIN');
    expect(await caller.delete(path)).toBeError(409, 'LAST_ADMIN');
    expect(await canCall(caller)).toBe(true);
    mustSucceed(await revokeHeld(caller));
    const again = await logIn();
    await makeSecret(again);
    mustSucceed(await again.post(`${path}/client-secrets/${id}/revoke`, {}));
  });
});

describe('the networks of the only admin who can log in', () => {
  const ELSEWHERE = [{ ipAddress: '203.0.113.7/32' }];

  test('do not keep it out of where it calls from', async () => {
    const { admin } = await scene();
    const path = `${TOKEN_AUTH}/${admin.identityId}`;
    const refused = await admin.patch(path, { accessTokenTrustedIps: ELSEWHERE });
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused.text).toContain('your address');
    mustSucceed(await admin.patch(path, { accessTokenTrustedIps: [{ ipAddress: '127.0.0.0/8' }, ...ELSEWHERE] }));
    mustSucceed(await admin.patch(path, { accessTokenTTL: 60 }));
    await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    mustSucceed(await admin.patch(path, { accessTokenTrustedIps: ELSEWHERE }));
    expect(await canCall(admin)).toBe(false);
  });

  test('of one method do, while the other lets it in', async () => {
    const { admin } = await scene();
    const { logIn } = await makeSecret(admin);
    mustSucceed(await admin.patch(`${TOKEN_AUTH}/${admin.identityId}`, { accessTokenTrustedIps: ELSEWHERE }));
    const caller = await logIn();
    mustSucceed(await revokeHeld(await logIn()));
    const path = `${UNIVERSAL_AUTH}/${admin.identityId}`;
    expect(await caller.patch(path, { accessTokenTrustedIps: ELSEWHERE })).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await caller.patch(path, { clientSecretTrustedIps: ELSEWHERE }));
    expect(await revokeHeld(caller)).toHaveProperty('status', 200);
  });
});

describe('revocations at the same moment', () => {
  test('of the last tokens of two admins by each other, a hundred at once, leave one who can log in', async () => {
    const { admin } = await strongroom.seed.organization();
    const other = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const ids = [await ownTokenId(admin), await ownTokenId(other)] as const;
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? revokeById(admin, ids[1]) : revokeById(other, ids[0]))),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect([await canCall(admin), await canCall(other)].sort()).toEqual([false, true]);
  });

  test('wait for no lock of the organization when the holder is no admin', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const client = new pg.Client({ connectionString: strongroom.databaseUrl });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from organization where id = $1 for no key update', [organization.id]);
      mustSucceed(await revokeHeld(member));
    } finally {
      await client.end();
    }
  });
});

describe('the admin of the installation', () => {
  test('keeps a credential of its own, whoever else is an admin', () =>
    strongroom.seed.withInstallationAdmin(async ({ admin }) => {
      expect(await revokeHeld(admin)).toBeError(409, 'LAST_ADMIN');
      const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
      expect(await revokeHeld(admin)).toBeError(409, 'LAST_ADMIN');
      expect(await admin.delete(`${TOKEN_AUTH}/${admin.identityId}`)).toBeError(409, 'LAST_ADMIN');
      mustSucceed(await revokeHeld(colleague));
      const { logIn } = await makeSecret(admin);
      mustSucceed(await revokeHeld(admin));
      const replies = await Promise.all([1, 2].map(() => logIn()));
      for (const caller of replies) expect(await canCall(caller)).toBe(true);
    }));
});
