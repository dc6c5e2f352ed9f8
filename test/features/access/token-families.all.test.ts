import { otherNodeInAll, rounds, testInAll } from '../../kit/scope.js';
import { Caller, type OtherNode, type Reply, useMovedStrongroom } from '../../kit/strongroom.js';
import { makeClient, makeIdentity, makeToken, type TokenAuthSettings, universalAuthPath } from './scenario.js';

const PROBE = '{ __typename }';
const MINT_PERSONAL = `mutation ($input: CreatePersonalAccessTokenInput!) {
  createPersonalAccessToken(input: $input) { accessToken expiresIn accessTokenMaxTTL tokenData {
    id accessTokenTTL: ttlSeconds accessTokenMaxTTL: maxTtlSeconds accessTokenNumUsesLimit: useLimit } }
}`;
const DAY = 86_400;

interface Issued {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly accessTokenMaxTTL: number;
  readonly tokenData: {
    readonly id: string;
    readonly accessTokenTTL: number;
    readonly accessTokenMaxTTL: number;
    readonly accessTokenNumUsesLimit: number;
  };
}

/** A token that can make one for its own actor. */
interface Maker {
  readonly caller: Caller;
  readonly tokenId: string;
  readonly mint: (caller: Caller, limits?: TokenAuthSettings) => Promise<Reply>;
  readonly issued: (reply: Reply) => Issued;
}

const strongroom = useMovedStrongroom();
const as = (token: string): Caller => new Caller(strongroom.url, token);

describe('a token that a token makes for its own actor', () => {
  let second: OtherNode;
  beforeAll(async () => {
    second = await otherNodeInAll(strongroom);
  });
  const probe = (token: string): Promise<Reply> => as(token).graphql(PROBE);
  const revokeHeld = (accessToken: string): Promise<Reply> =>
    strongroom.admin.anonymous.post('/api/v1/auth/token/revoke', { accessToken });
  const renew = (accessToken: string): Promise<Reply> =>
    strongroom.admin.anonymous.post('/api/v1/auth/token/renew', { accessToken });

  /** An identity with the right to make tokens, whose first token has these limits while later ones have none. */
  async function identityMaker(admin: Caller, limits: TokenAuthSettings): Promise<Maker> {
    const identityId = await makeIdentity(admin, limits);
    await admin.patch(`/api/v1/identities/${identityId}`, { role: 'admin' });
    const { accessToken, tokenData } = await makeToken(admin, identityId);
    await admin.patch(`/api/v1/auth/token-auth/identities/${identityId}`, UNLIMITED);
    return { ...identityMints(identityId), caller: as(accessToken), tokenId: tokenData.id };
  }

  async function loginMaker(admin: Caller, limits: TokenAuthSettings): Promise<Maker> {
    const { identityId, logIn } = await makeClient(admin, { auth: limits });
    await admin.patch(`/api/v1/identities/${identityId}`, { role: 'admin' });
    await admin.post(`/api/v1/auth/token-auth/identities/${identityId}`, UNLIMITED);
    const { accessToken } = (await logIn()).body;
    const [{ id }] = (await admin.get(`/api/v1/auth/token-auth/identities/${identityId}/tokens`)).body.tokens;
    return { ...identityMints(identityId), caller: as(accessToken), tokenId: id };
  }

  /** As the input of tokens of users has them. */
  const personal = (limits: TokenAuthSettings) => ({
    ttlSeconds: limits.accessTokenTTL,
    maxTtlSeconds: limits.accessTokenMaxTTL,
    useLimit: limits.accessTokenNumUsesLimit,
  });

  async function personalMaker(admin: Caller, limits: TokenAuthSettings): Promise<Maker> {
    const { userId } = await strongroom.seed.user(admin);
    const { createPersonalAccessToken } = await admin.data(MINT_PERSONAL, { input: { userId, ...personal(limits) } });
    return {
      caller: as(createPersonalAccessToken.accessToken),
      tokenId: createPersonalAccessToken.tokenData.id,
      mint: (caller, asked = UNLIMITED) => caller.graphql(MINT_PERSONAL, { input: { userId, ...personal(asked) } }),
      issued: ({ body }) => body.data.createPersonalAccessToken,
    };
  }

  const UNLIMITED = { accessTokenTTL: 0, accessTokenMaxTTL: 0, accessTokenNumUsesLimit: 0 };
  const identityMints = (identityId: string) => ({
    mint: (caller: Caller, _limits?: object) =>
      caller.post(`/api/v1/auth/token-auth/identities/${identityId}/tokens`, {}),
    issued: ({ body }: Reply): Issued => body,
  });

  const makers = [
    ['of an identity', identityMaker],
    ['of a login', loginMaker],
    ['of a user', personalMaker],
  ] as const;

  describe.each(makers)('%s', (_, makerWith) => {
    test('lives as long as its maker at most, renewed or not', async () => {
      const { admin } = await strongroom.seed.organization();
      const { caller, mint, issued } = await makerWith(admin, { accessTokenTTL: 600, accessTokenMaxTTL: DAY });
      await strongroom.advanceClock(200);
      const child = issued(await mint(caller));
      expect(child.expiresIn).toBeLessThanOrEqual(400);
      expect(child.expiresIn).toBeGreaterThan(300);
      expect(child.accessTokenMaxTTL).toBe(child.expiresIn);
      const grandchild = issued(await mint(as(child.accessToken)));
      expect(grandchild.expiresIn).toBeLessThanOrEqual(child.expiresIn);
      expect(await renew(grandchild.accessToken)).toBeError(401, 'TOKEN_MAX_TTL_EXCEEDED');
      // The maker lives on; what it made had the life that it had then.
      expect((await renew(caller.token as string)).status).toBe(200);
      await strongroom.advanceClock(401);
      expect((await probe(caller.token as string)).status).toBe(200);
      for (const { accessToken } of [child, grandchild])
        expect(await probe(accessToken)).toBeError(401, 'TOKEN_EXPIRED');
    });

    test('is revoked with its maker, and so is what it made itself, on every node', async () => {
      const { admin } = await strongroom.seed.organization();
      const { caller, tokenId, mint, issued } = await makerWith(admin, UNLIMITED);
      const child = issued(await mint(caller));
      const grandchild = issued(await mint(as(child.accessToken)));
      const sibling = issued(await mint(caller));
      // Nothing bounds its maker, so nothing bounds it.
      expect(child.tokenData).toMatchObject(UNLIMITED);
      expect((await revokeHeld(child.accessToken)).status).toBe(200);
      for (const { accessToken } of [child, grandchild])
        expect(await probe(accessToken)).toBeError(401, 'TOKEN_REVOKED');
      for (const token of [caller.token as string, sibling.accessToken]) expect((await probe(token)).status).toBe(200);
      await admin.post(`/api/v1/auth/token-auth/tokens/${tokenId}/revoke`);
      for (const token of [caller.token as string, sibling.accessToken])
        expect(await probe(token)).toBeError(401, 'TOKEN_REVOKED');
    });

    test('has the uses that its maker had left, which the maker then has no more', async () => {
      const { admin } = await strongroom.seed.organization();
      const { caller, mint, issued } = await makerWith(admin, { accessTokenNumUsesLimit: 5 });
      await probe(caller.token as string);
      const child = issued(await mint(caller));
      expect(child.tokenData.accessTokenNumUsesLimit).toBe(3);
      expect(await probe(caller.token as string)).toBeError(401, 'TOKEN_USES_EXHAUSTED');
      const grandchild = issued(await mint(as(child.accessToken)));
      expect(grandchild.tokenData.accessTokenNumUsesLimit).toBe(2);
      const tokens = [caller.token as string, child.accessToken, grandchild.accessToken];
      const passed = await Promise.all(
        Array.from({ length: 30 }, (_, index) => probe(tokens[index % tokens.length] as string)),
      );
      expect(passed.filter(({ status }) => status === 200)).toHaveLength(2);
    });

    test('is not made with the last use of its maker, however many are asked for at once', async () => {
      const { admin } = await strongroom.seed.organization();
      const { caller, mint, tokenId } = await makerWith(admin, { accessTokenNumUsesLimit: 1 });
      const replies = await Promise.all(Array.from({ length: 50 }, () => mint(caller.patient)));
      for (const reply of replies) expect(reply).toBeError(401, 'TOKEN_USES_EXHAUSTED');
      expect(await strongroom.sql('select 1 from access_token where maker_id = $1', [tokenId])).toEqual([]);
    });
  });

  test('has these limits also when an admin writes the id of itself in capitals', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { userId } = await strongroom.seed.user(admin);
    await admin.data(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { userId, organizationId: organization.id, roleSlug: 'admin' } },
    );
    const limits = { accessTokenTTL: 60, accessTokenMaxTTL: 60, accessTokenNumUsesLimit: 5 };
    const maker = (await admin.data(MINT_PERSONAL, { input: { userId, ...personal(limits) } }))
      .createPersonalAccessToken;
    const input = { userId: userId.toUpperCase(), ...personal(UNLIMITED) };
    const child = (await as(maker.accessToken).data(MINT_PERSONAL, { input })).createPersonalAccessToken;
    expect(child.accessTokenMaxTTL).toBeLessThanOrEqual(60);
    expect(child.tokenData).toMatchObject({ accessTokenTTL: child.accessTokenMaxTTL, accessTokenNumUsesLimit: 4 });
    expect((await revokeHeld(maker.accessToken)).status).toBe(200);
    expect(await probe(child.accessToken)).toBeError(401, 'TOKEN_REVOKED');
  });

  test('shares the uses of its maker exactly, whatever 50 callers at two nodes make of them', async () => {
    const { admin } = await strongroom.seed.organization();
    const LIMIT = 40;
    const { caller, tokenId, mint, issued } = await personalMaker(admin, { accessTokenNumUsesLimit: LIMIT });
    const nodes = [caller, caller.at(second.url)];
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => mint(nodes[index % 2] as Caller, { accessTokenNumUsesLimit: 3 })),
    );
    const children = replies.filter(({ body }) => body.errors === undefined).map(issued);
    const given = children.reduce((sum, { tokenData }) => sum + tokenData.accessTokenNumUsesLimit, 0);
    const used = replies.filter(({ status }) => status === 200).length;
    expect(children.length).toBeGreaterThan(0);
    expect(used + given).toBeLessThanOrEqual(LIMIT);
    const [row] = await strongroom.sql('select num_uses::int as uses from access_token where id = $1', [tokenId]);
    expect(row?.uses).toBeLessThanOrEqual(LIMIT);
  });

  testInAll(
    'is there with the uses that it took, or not at all, when a node is killed while it is being made',
    async () => {
      const { admin } = await strongroom.seed.organization();
      const LIMIT = 60;
      const { caller, tokenId, mint } = await personalMaker(admin, { accessTokenNumUsesLimit: LIMIT });
      const doomed = await strongroom.startSecondNode();
      const minting = Array.from({ length: 30 }, () =>
        mint(caller.at(doomed.url), { accessTokenNumUsesLimit: 1 }).then(
          ({ status }) => status,
          () => null,
        ),
      );
      await Promise.any(minting.map(async (status) => expect(await status).toBe(200)));
      await doomed.service.kill();
      const passed = (await Promise.all(minting)).filter((status) => status === 200).length;
      const [{ uses, children }] = (await strongroom.sql(
        `select num_uses::int as uses, (select count(*)::int from access_token c where c.maker_id = t.id) as children
       from access_token t where id = $1`,
        [tokenId],
      )) as [{ uses: number; children: number }];
      // Each request is one use, and each token that it made another one.
      expect(children).toBeGreaterThanOrEqual(1);
      expect(uses).toBeGreaterThanOrEqual(passed + children);
      expect(uses).toBeLessThanOrEqual(30 + children);
    },
  );

  test('is gone when its maker is revoked while it is being made', async () => {
    const { admin } = await strongroom.seed.organization();
    for (let round = 0; round < rounds(4); round += 1) {
      const { caller, mint, issued } = await personalMaker(admin, UNLIMITED);
      const child = as(issued(await mint(caller)).accessToken);
      const makers = [caller, child, caller.at(second.url), child.at(second.url)];
      const minting = Array.from({ length: 12 }, (_, index) => mint((makers[index % 4] as Caller).patient));
      expect((await revokeHeld(caller.token as string)).status).toBe(200);
      for (const reply of await Promise.all(minting)) {
        if (reply.body.errors !== undefined) expect(reply).toBeError(401, 'TOKEN_REVOKED');
        else expect(await probe(issued(reply).accessToken)).toBeError(401, 'TOKEN_REVOKED');
      }
    }
  });

  test('is made by several fields of one document within the same limits', async () => {
    const { admin } = await strongroom.seed.organization();
    const { userId } = await strongroom.seed.user(admin);
    const { createPersonalAccessToken } = await admin.data(MINT_PERSONAL, {
      input: { userId, useLimit: 6 },
    });
    const { body } = await as(createPersonalAccessToken.accessToken).graphql(
      `mutation ($input: CreatePersonalAccessTokenInput!) {
        a: createPersonalAccessToken(input: $input) { tokenData { useLimit } }
        b: createPersonalAccessToken(input: $input) { tokenData { useLimit } }
        c: createPersonalAccessToken(input: $input) { tokenData { useLimit } }
      }`,
      { input: { userId, useLimit: 3 } },
    );
    expect(body.data.a.tokenData.useLimit).toBe(3);
    expect(body.data.b.tokenData.useLimit).toBe(2);
    expect(body.data.c).toBeNull();
    expect(body.errors[0].extensions.code).toBe('TOKEN_USES_EXHAUSTED');
  });

  test('keeps to the sub-organization, the life and the fate of its maker', async () => {
    const { admin } = await strongroom.seed.organization();
    const { userId } = await strongroom.seed.user(admin);
    const { createSubOrganization } = await admin.data(
      'mutation { createSubOrganization(input: { name: "Team", slug: "team" }) { organization { id } } }',
    );
    const { id: organizationId } = createSubOrganization.organization;
    await admin.data(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { organizationId, userId, roleSlug: 'admin' } },
    );
    const scoped = await admin.data(MINT_PERSONAL, { input: { userId, organizationSlug: 'team', ttlSeconds: 60 } });
    const maker = scoped.createPersonalAccessToken as Issued;
    const made = await as(maker.accessToken).data(MINT_PERSONAL, { input: { userId, ...personal(UNLIMITED) } });
    const child = made.createPersonalAccessToken as Issued;
    expect(child.expiresIn).toBeLessThanOrEqual(60);
    expect(child.expiresIn).toBeGreaterThan(0);
    expect((await as(child.accessToken).data('{ organization { id } }')).organization.id).toBe(organizationId);
    await revokeHeld(maker.accessToken);
    expect(await probe(child.accessToken)).toBeError(401, 'TOKEN_REVOKED');
  });

  test('is refused nothing for other identities: their tokens live as their configuration says', async () => {
    const { admin } = await strongroom.seed.organization();
    const { caller } = await identityMaker(admin, {
      accessTokenTTL: 60,
      accessTokenMaxTTL: 60,
      accessTokenNumUsesLimit: 5,
    });
    const other = await makeIdentity(admin, {});
    const { accessToken, tokenData } = await makeToken(caller, other);
    expect(tokenData).toMatchObject({ accessTokenTTL: 30 * DAY, accessTokenNumUsesLimit: 0 });
    await revokeHeld(caller.token as string);
    expect((await probe(accessToken)).status).toBe(200);
  });
});

describe('a client secret that is revoked', () => {
  test('takes the tokens of its logins with it, and what they made for themselves, and no others', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { identityId, clientId, clientSecretId, logIn } = await makeClient(admin);
    await admin.patch(`/api/v1/identities/${identityId}`, { role: 'admin' });
    await admin.post(`/api/v1/auth/token-auth/identities/${identityId}`, {});
    const path = universalAuthPath(identityId);
    const other = (await admin.post(`${path}/client-secrets`, {})).body.clientSecret;
    const login = async (clientSecret: string) =>
      (await admin.anonymous.post('/api/v1/auth/universal-auth/login', { clientId, clientSecret })).body.accessToken;
    const [mine, others] = [(await logIn()).body.accessToken as string, (await login(other)) as string];
    const child = (await makeToken(as(mine), identityId)).accessToken;
    const spared = (await makeToken(as(others), identityId)).accessToken;

    expect((await admin.post(`${path}/client-secrets/${clientSecretId}/revoke`)).status).toBe(200);

    for (const token of [mine, child]) expect(await as(token).graphql(PROBE)).toBeError(401, 'TOKEN_REVOKED');
    for (const token of [others, spared]) expect((await as(token).graphql(PROBE)).status).toBe(200);
    const [record] = await strongroom.auditRows(`action = 'client-secret:revoke' and organization_id = $1`, [
      organization.id,
    ]);
    expect(record?.facts).toEqual({ clientSecretId, identityId, tokens: 2 });
  });

  test('leaves no token of a login that ran beside it', async () => {
    const { admin } = await strongroom.seed.organization();
    for (let round = 0; round < rounds(4); round += 1) {
      const { identityId, clientSecretId, logIn } = await makeClient(admin);
      const logins = Array.from({ length: 8 }, () => logIn());
      const revoked = admin.post(`${universalAuthPath(identityId)}/client-secrets/${clientSecretId}/revoke`);
      expect((await revoked).status).toBe(200);
      for (const reply of await Promise.all(logins)) {
        if (reply.status !== 200) expect(reply).toBeError(401, 'CLIENT_SECRET_REVOKED');
        else expect(await as(reply.body.accessToken).graphql(PROBE)).toBeError(401, 'TOKEN_REVOKED');
      }
    }
  });

  test('is not expiry, nor its last login: the tokens live as they were made', async () => {
    const { admin } = await strongroom.seed.organization();
    const { logIn } = await makeClient(admin, { secret: { ttl: 60, numUsesLimit: 1 } });
    const { accessToken } = (await logIn()).body;
    await strongroom.advanceClock(61);
    expect((await as(accessToken).graphql(PROBE)).status).toBe(200);
  });
});
