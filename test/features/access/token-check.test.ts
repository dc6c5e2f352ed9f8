import { mintToken } from '../../../src/kernel/crypto/token.js';
import { otherNodeInAll, rounds } from '../../kit/scope.js';
import { type Reply, useMovedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { makeIdentity, makeToken } from './scenario.js';

const PROBE = '{ organization { id } }';
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
/** The same token with another last character, which is one of its checksum. */
const otherChecksum = (token: string): string => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
const MOST_CROWDS = 10;
const document = (query: string): { query: string } => ({ query });

describe('the check of a token', () => {
  const strongroom = useMovedStrongroom();

  test('lets a token of 10 uses pass exactly 10 times among 50 parallel requests to two nodes', async () => {
    const second = await otherNodeInAll(strongroom);
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenNumUsesLimit: 10 });
    for (let round = 0; round < rounds(20); round += 1) {
      const { accessToken } = await makeToken(admin, identityId);
      const { anonymous } = admin.patient;
      const nodes = [anonymous, anonymous.at(second.url)];
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (nodes[index % 2] as (typeof nodes)[0]).post('/graphql', document(PROBE), bearer(accessToken)),
        ),
      );
      const codes = replies.map(({ body }) => body.errors[0].extensions.code);
      // What passes the check of the token is refused by rights.
      expect(codes.sort()).toEqual([...Array(10).fill('PERMISSION_DENIED'), ...Array(40).fill('TOKEN_USES_EXHAUSTED')]);
    }
  });

  test('is one SQL statement, and none for a text that is no token', async () => {
    const { admin } = await strongroom.seed.organization();
    await admin.graphql(PROBE);
    const passed = await strongroom.statements(() => admin.graphql(PROBE));
    // The token, the organization, the audit record.
    expect(passed.count).toBe(3);
    const garbage = `srt_${'A'.repeat(49)}`;
    const refused = await strongroom.statements(() => admin.anonymous.get('/api/v1/identities', bearer(garbage)));
    expect(refused.result).toBeError(401, 'TOKEN_INVALID');
    expect(refused.count).toBe(0);
  });

  test('is shared by the requests with one token that wait for it', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const crowd = () =>
      withClient(strongroom.databaseUrl, async (client) => {
        // No check comes to its end for a moment.
        await client.query('begin');
        await client.query('lock table access_token in access exclusive mode');
        const replies = Promise.all(Array.from({ length: 100 }, () => admin.data(PROBE)));
        await until('the check to wait', 20_000, async () => {
          const [row] = await strongroom.sql(`select 1 from pg_locks
            where not granted and relation = 'access_token'::regclass
              and database = (select oid from pg_database where datname = current_database())`);
          return row !== undefined;
        });
        await client.query('commit');
        return replies;
      });
    const counts: number[] = [];
    // On a busy machine some may come after the check that they could share: the best crowd counts.
    do {
      const { result, count } = await strongroom.statements(crowd);
      expect(result.map(({ organization }) => organization.id)).toEqual(Array(100).fill(organization.id));
      counts.push(count);
    } while (Math.min(...counts) >= 200 && counts.length < MOST_CROWDS);
    // The organization for each of them, and a few for their tokens and audit records.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(102);
    expect(Math.min(...counts)).toBeLessThan(200);
  });

  test('refuses a request without a token, with another scheme, or with an unknown token', async () => {
    const { anonymous } = strongroom.admin;
    expect(await anonymous.get('/api/v1/identities')).toBeError(401, 'TOKEN_MISSING');
    expect(await anonymous.get('/api/v1/identities', { authorization: 'Basic YTpi' })).toBeError(401, 'TOKEN_INVALID');
  });

  test('lets none of 2,000 made-up tokens pass, and asks the database only about those with a right checksum', async () => {
    const { anonymous } = strongroom.admin;
    const AT_ONCE = 50;
    const COUNT = 1_000;
    const tryAll = async (makeUp: () => string): Promise<Reply[]> => {
      const replies: Reply[] = [];
      while (replies.length < COUNT) {
        const tokens = Array.from({ length: AT_ONCE }, makeUp);
        replies.push(...(await Promise.all(tokens.map((token) => anonymous.get('/api/v1/identities', bearer(token))))));
      }
      return replies;
    };
    const misspelt = await strongroom.statements(() => tryAll(() => otherChecksum(mintToken())));
    const wellFormed = await strongroom.statements(() => tryAll(() => mintToken()));
    for (const reply of [...misspelt.result, ...wellFormed.result]) expect(reply).toBeError(401, 'TOKEN_INVALID');
    expect(misspelt.count).toBe(0);
    // The check, and the cause of the refusal.
    expect(wellFormed.count).toBe(2 * COUNT);
  });

  test('refuses an expired token with TOKEN_EXPIRED and counts no use', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenTTL: 60, accessTokenMaxTTL: 60 });
    const { accessToken, tokenData } = await makeToken(admin, identityId);
    await strongroom.advanceClock(61);
    expect(await admin.anonymous.get('/api/v1/identities', bearer(accessToken))).toBeError(401, 'TOKEN_EXPIRED');
    const { body } = await admin.get(`/api/v1/auth/token-auth/tokens/${tokenData.id}`);
    expect(body.token.accessTokenNumUses).toBe(0);
  });

  test('reads the trusted networks live from the configuration', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, { accessTokenTrustedIps: [{ ipAddress: '203.0.113.0/24' }] });
    const { accessToken } = await makeToken(admin, identityId);
    const { anonymous } = admin;
    expect(await anonymous.get('/api/v1/identities', bearer(accessToken))).toBeError(401, 'TOKEN_ADDRESS_REFUSED');
    await admin.patch(`/api/v1/auth/token-auth/identities/${identityId}`, {
      accessTokenTrustedIps: [{ ipAddress: '127.0.0.0/8' }, { ipAddress: '::1' }],
    });
    // Known now; the identity has no role.
    expect(await anonymous.get('/api/v1/identities', bearer(accessToken))).toBeError(403, 'PERMISSION_DENIED');
  });

  test('counts the uses of an unlimited token for whoever reads it', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await makeIdentity(admin, {});
    const { accessToken, tokenData } = await makeToken(admin, identityId);
    for (let use = 0; use < 3; use += 1) await admin.anonymous.get('/api/v1/identities', bearer(accessToken));
    const { body } = await admin.get(`/api/v1/auth/token-auth/tokens/${tokenData.id}`);
    expect(body.token.accessTokenNumUses).toBe(3);
    expect(body.token.accessTokenLastUsedAt).not.toBeNull();
  });

  test('stops a token at once when the configuration or the identity is gone', async () => {
    const { admin } = await strongroom.seed.organization();
    const [first, second] = [await makeIdentity(admin, {}), await makeIdentity(admin, {})];
    const tokens = [await makeToken(admin, first), await makeToken(admin, second)];
    await admin.delete(`/api/v1/auth/token-auth/identities/${first}`);
    await admin.delete(`/api/v1/identities/${second}`);
    for (const { accessToken } of tokens) {
      expect(await admin.anonymous.get('/api/v1/identities', bearer(accessToken))).toBeError(401, 'TOKEN_INVALID');
    }
  });
});
