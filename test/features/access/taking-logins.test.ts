import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { organizationCaller } from '../groups/kit.js';

const strongroom = useSharedStrongroom();
const TOKEN_AUTH = '/api/v1/auth/token-auth';
const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities';
const KEEPS = {
  subject: 'identity',
  action: ['read', 'edit', 'delete', 'create-token', 'get-token', 'delete-token', 'revoke-auth'],
};
const REVOKE =
  'mutation ($input: RevokeAccessTokensInput!) { revokeAccessTokens(input: $input) { hasMore tokens { id } } }';

/** An admin of a project, which can log in in two ways, and a caller with all rights on identities, in no project. */
async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const [keeper, owner] = [
    await organizationCaller(strongroom, admin, KEEPS),
    await organizationCaller(strongroom, admin, KEEPS),
  ];
  const membership = `/api/v2/workspace/${project.id}/identity-memberships/${owner.identityId}`;
  mustSucceed(await admin.post(membership, { role: 'admin' }));
  const universal = `${UNIVERSAL_AUTH}/${owner.identityId}`;
  mustSucceed(await admin.post(universal, {}));
  const { clientSecretData } = mustSucceed(await admin.post(`${universal}/client-secrets`, {})).body;
  const logins = {
    token: `${TOKEN_AUTH}/identities/${owner.identityId}`,
    universal,
    clientSecret: `${universal}/client-secrets/${clientSecretData.id}/revoke`,
  };
  return { admin, keeper, owner, project, logins };
}

const tokenIdOf = async (caller: Caller): Promise<string> =>
  (await caller.data('{ viewer { token { id } } }')).viewer.token.id;
const revoked = async (caller: Caller, input: object): Promise<string[]> =>
  (await caller.data(REVOKE, { input })).revokeAccessTokens.tokens.map(({ id }: { id: string }) => id);

describe('how an account logs in that may do more than the caller', () => {
  test('is changed by whoever may do that too, or by itself: neither loosened nor tightened by others', async () => {
    const { admin, keeper, owner, logins } = await scene();
    mustSucceed(await owner.patch(logins.token, { accessTokenNumUsesLimit: 0 }));
    for (const path of [logins.token, logins.universal])
      for (const change of [
        { accessTokenTrustedIps: [{ ipAddress: '0.0.0.0/0' }, { ipAddress: '::/0' }] },
        { accessTokenTTL: 0, accessTokenMaxTTL: 0 },
        { accessTokenNumUsesLimit: 5 },
        { accessTokenNumUsesLimit: 0 },
      ]) {
        const refused = await keeper.patch(path, change);
        expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
        mustSucceed(await admin.patch(path, change));
      }
    const plain = await strongroom.seed.caller(admin);
    mustSucceed(await keeper.patch(`${TOKEN_AUTH}/identities/${plain.identityId}`, { accessTokenTTL: 60 }));
  });

  test('is taken away by whoever may do that too', async () => {
    const { admin, keeper, owner, logins } = await scene();
    const tokenId = await tokenIdOf(owner);
    for (const refused of [
      await keeper.post(logins.clientSecret, {}),
      await keeper.delete(logins.universal),
      await keeper.delete(logins.token),
      await keeper.post(`${TOKEN_AUTH}/tokens/${tokenId}/revoke`),
    ])
      expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await owner.graphql('{ viewer { __typename } }'));
    mustSucceed(await admin.post(logins.clientSecret, {}));
    mustSucceed(await admin.delete(logins.universal));
    mustSucceed(await admin.post(`${TOKEN_AUTH}/tokens/${tokenId}/revoke`));
  });

  test('is taken away by itself', async () => {
    const { owner, logins } = await scene();
    mustSucceed(await owner.delete(logins.universal));
    mustSucceed(await owner.post(`${TOKEN_AUTH}/tokens/${await tokenIdOf(owner)}/revoke`));
  });
});

describe('revoking many tokens', () => {
  test('leaves those of accounts that may do more, and names the places of those that were named', async () => {
    const { admin, keeper, owner } = await scene();
    const plain = await strongroom.seed.caller(admin);
    const [ofOwner, ofPlain] = [await tokenIdOf(owner), await tokenIdOf(plain)];
    const refused = await keeper.graphql(REVOKE, { input: { ids: [ofPlain, ofOwner] } });
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.errors[0].extensions.details).toMatchObject([{ path: expect.stringContaining('ids[1]') }]);
    expect(await keeper.graphql(REVOKE, { input: { identityId: owner.identityId } })).toBeError(
      403,
      'PERMISSION_BOUNDARY',
    );
    const all = { unusedSince: '2999-01-01T00:00:00Z' };
    expect(await revoked(keeper, { ...all, dryRun: true })).toEqual([ofPlain]);
    expect(await revoked(keeper, all)).toEqual([ofPlain]);
    expect(await revoked(admin, all)).toContain(ofOwner);
  });
});
