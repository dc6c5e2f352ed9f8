import { Caller, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';
import { makeClient, makeIdentity, makeToken, universalAuthPath } from './scenario.js';

const tokenAuthPath = (identityId: string): string => `/api/v1/auth/token-auth/identities/${identityId}`;
const SHORT = { accessTokenTTL: 60, accessTokenMaxTTL: 600 };
const NO_LIMITS = { accessTokenTTL: 0, accessTokenMaxTTL: 0, accessTokenNumUsesLimit: 0 };

/** Each way to give one's own identity more than the token of the request has. */
const WAYS: readonly (readonly [string, (caller: Caller, identityId: string) => Promise<Reply>])[] = [
  ['changes its token-auth configuration', (caller, id) => caller.patch(tokenAuthPath(id), NO_LIMITS)],
  ['removes it, to attach another', (caller, id) => caller.delete(tokenAuthPath(id))],
  ['attaches token authentication', (caller, id) => caller.post(tokenAuthPath(id), NO_LIMITS)],
  ['changes its universal-auth configuration', (caller, id) => caller.patch(universalAuthPath(id), NO_LIMITS)],
  ['removes universal authentication', (caller, id) => caller.delete(universalAuthPath(id))],
  ['attaches universal authentication', (caller, id) => caller.post(universalAuthPath(id), NO_LIMITS)],
  ['makes a client secret', (caller, id) => caller.post(`${universalAuthPath(id)}/client-secrets`, {})],
];

describe('a limited token of an identity that may do everything', () => {
  const strongroom = useSharedStrongroom();
  const as = (token: string): Caller => new Caller(strongroom.url, token);
  const withRole = async (admin: Caller, identityId: string): Promise<void> => {
    await admin.patch(`/api/v1/identities/${identityId}`, { role: 'admin' });
  };
  const expectRefused = (reply: Reply): void => {
    expect(reply).toBeError(403, 'PERMISSION_DENIED');
    const { details } = reply.body.errors?.[0].extensions ?? reply.body;
    expect(details).toEqual([{ path: 'header.authorization', code: 'LIMITED_TOKEN', message: expect.any(String) }]);
  };
  /** What of an identity says who gets in, and for how long. */
  const waysIn = (identityId: string) =>
    strongroom.sql(
      `select a.ttl_seconds, a.max_ttl_seconds, a.num_uses_limit, u.ttl_seconds as ua_ttl, u.max_ttl_seconds as ua_max,
         u.num_uses_limit as ua_uses, (select count(*)::int from universal_auth_client_secret s where s.identity_id = i.id) as secrets
       from identity i left join identity_token_auth a on a.identity_id = i.id
       left join identity_universal_auth u on u.identity_id = i.id where i.id = $1`,
      [identityId],
    );

  /** Tokens with less than their configuration gives, of identities that have both ways in, or one. */
  const LIMITED: readonly (readonly [string, (admin: Caller) => Promise<{ identityId: string; caller: Caller }>])[] = [
    [
      'with a limit on uses',
      async (admin) => {
        const identityId = await makeIdentity(admin, { ...NO_LIMITS, accessTokenNumUsesLimit: 100 });
        const caller = as((await makeToken(admin, identityId)).accessToken);
        return { identityId, caller };
      },
    ],
    [
      'with less life than the configuration gives by now',
      async (admin) => {
        const identityId = await makeIdentity(admin, SHORT);
        const caller = as((await makeToken(admin, identityId)).accessToken);
        await admin.patch(tokenAuthPath(identityId), { accessTokenMaxTTL: 601 });
        await admin.post(universalAuthPath(identityId), SHORT);
        return { identityId, caller };
      },
    ],
    [
      'that a token made for itself',
      async (admin) => {
        const identityId = await makeIdentity(admin, SHORT);
        await admin.post(universalAuthPath(identityId), SHORT);
        await withRole(admin, identityId);
        const maker = as((await makeToken(admin, identityId)).accessToken);
        return { identityId, caller: as((await makeToken(maker, identityId)).accessToken) };
      },
    ],
    [
      'of a login',
      async (admin) => {
        const { identityId, logIn } = await makeClient(admin, { auth: { ...SHORT, accessTokenNumUsesLimit: 100 } });
        await admin.post(tokenAuthPath(identityId), NO_LIMITS);
        return { identityId, caller: as((await logIn()).body.accessToken) };
      },
    ],
  ];

  describe.each(LIMITED)('%s', (_, limited) => {
    test('gives its own identity nothing, whichever way it tries', async () => {
      const { admin } = await strongroom.seed.organization();
      const { identityId, caller } = await limited(admin);
      await withRole(admin, identityId);
      const before = await waysIn(identityId);
      for (const [, attempt] of WAYS) expectRefused(await attempt(caller, identityId));
      expect(await waysIn(identityId)).toEqual(before);
      // Other identities are a matter of rights.
      const other = await makeIdentity(admin, {});
      expect((await caller.patch(tokenAuthPath(other), { accessTokenMaxTTL: 0 })).status).toBe(200);
      expect((await caller.post(universalAuthPath(other), {})).status).toBe(200);
      expect((await caller.post(`${universalAuthPath(other)}/client-secrets`, {})).status).toBe(200);
    });
  });

  test('does not do it in one document either, after another change or beside one', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenNumUsesLimit: 2 });
    await withRole(admin, identityId);
    const caller = as((await makeToken(admin, identityId)).accessToken);
    const { body } = await caller.graphql(
      `mutation ($update: UpdateTokenAuthInput!, $own: CreateAccessTokenInput!, $remove: RemoveTokenAuthInput!) {
        createIdentity(input: { name: "other" }) { identity { id } }
        first: updateTokenAuth(input: $update) { tokenAuth { accessTokenTTL } }
        removeTokenAuth(input: $remove) { tokenAuth { accessTokenTTL } }
        second: updateTokenAuth(input: $update) { tokenAuth { accessTokenTTL } }
        createAccessToken(input: $own) { tokenData { useLimit } }
      }`,
      { update: { identityId, ...NO_LIMITS }, own: { identityId }, remove: { identityId } },
    );
    expect(body.data).toMatchObject({ first: null, removeTokenAuth: null, second: null });
    expect(body.data.createAccessToken.tokenData.useLimit).toBe(1);
    const codes = body.errors.map(({ extensions }: { extensions: { details: { code: string }[] } }) =>
      extensions.details.map(({ code }) => code),
    );
    expect(codes).toEqual([['LIMITED_TOKEN'], ['LIMITED_TOKEN'], ['LIMITED_TOKEN']]);
  });

  test('that has all that its configuration gives still changes it, and makes client secrets', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, SHORT);
    await withRole(admin, identityId);
    const caller = as((await makeToken(admin, identityId)).accessToken);
    expect((await caller.post(universalAuthPath(identityId), SHORT)).status).toBe(200);
    expect((await caller.post(`${universalAuthPath(identityId)}/client-secrets`, {})).status).toBe(200);
    expect((await caller.patch(tokenAuthPath(identityId), { accessTokenMaxTTL: 3_600 })).status).toBe(200);
    // From here on the configuration gives more than this token has.
    expectRefused(await caller.patch(tokenAuthPath(identityId), { accessTokenMaxTTL: 7_200 }));
  });

  test('learns nothing of other organizations by it, and is in the audit trail', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenNumUsesLimit: 50 });
    const caller = as((await makeToken(admin, identityId)).accessToken);
    const foreign = await makeIdentity((await strongroom.seed.organization()).admin, {});
    // Without the right it is told of that, as before.
    const before = await caller.patch(tokenAuthPath(identityId), NO_LIMITS);
    expect(before.body.details).toEqual([{ path: 'identity', code: 'read', message: expect.any(String) }]);
    await withRole(admin, identityId);
    expect(await caller.patch(tokenAuthPath(foreign), NO_LIMITS)).toBeError(404, 'IDENTITY_NOT_FOUND');
    expectRefused(await caller.patch(tokenAuthPath(identityId), NO_LIMITS));
    const denied = await strongroom.auditRows(`outcome = 'denied' and organization_id = $1`, [organization.id]);
    expect(denied.map(({ action, actor_id }) => [action, actor_id])).toEqual([
      ['identity:read', identityId],
      ['identity:edit', identityId],
    ]);
  });
});
