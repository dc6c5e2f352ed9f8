import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { mintClientSecret, mintToken } from '../../../src/kernel/crypto/token.js';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { type SecondNode, type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import {
  exhaust,
  limitHeadersOf,
  limitsOf,
  metricAt,
  newAddress,
  newCallerAt,
  PROJECTS,
  passed,
  QUOTAS,
  startLimited,
} from './limited.js';

const LOGIN = '/api/v1/auth/universal-auth/login';
const QUERY = '{ projects { nodes { id } } }';

/** Counts nothing, in spite of its limits: tests make here what they need. */
const strongroom: Strongroom = useStrongroom({ RATE_LIMITS: limitsOf(QUOTAS) });
let node: SecondNode;
/** Trusts another proxy, and has windows of another length, so that those who call from here have buckets of their own. */
let distrusting: SecondNode;
beforeAll(async () => {
  const env = { TRUSTED_PROXIES: '192.0.2.1' };
  [node, distrusting] = await Promise.all([
    startLimited(strongroom),
    startLimited(strongroom, { ...QUOTAS, reads: 3, seconds: 5 }, env),
  ]);
});
afterAll(async () => {
  for (const each of [node, distrusting]) await each.stop();
});

/** A new token, at the limited node. */
const newCaller = (): Promise<Caller> => newCallerAt(node, strongroom);

const write = (caller: Caller, count: number, headers: Record<string, string> = {}): Promise<Reply> =>
  caller.graphql(
    `mutation { ${Array.from({ length: count }, (_, n) => `m${n}: createIdentity(input: { name: "n${n}" }) { __typename }`).join(' ')} }`,
    undefined,
    headers,
  );

const statements = (): Promise<number> => metricAt(node, 'strongroom_sql_statements_total{origin="request"}');

describe('the limits of a token', () => {
  test('let as many reads pass as they say, count down in every answer, and refuse the next', async () => {
    const caller = await newCaller();

    const replies = await exhaust(() => caller.get(PROJECTS));

    expect(passed(replies)).toBe(QUOTAS.reads);
    for (const [index, { headers }] of replies.slice(0, -1).entries()) {
      const left = QUOTAS.reads - 1 - index;
      expect(headers).toMatchObject({
        'ratelimit-limit': String(QUOTAS.reads),
        'ratelimit-remaining': String(left),
        'ratelimit-policy': `"reads";q=${QUOTAS.reads};w=60`,
        ratelimit: `"reads";r=${left};t=${headers['ratelimit-reset']}`,
      });
      expect(headers).not.toHaveProperty('retry-after');
    }
    const refused = replies.at(-1) as Reply;
    expect(refused).toBeError(429, 'RATE_LIMITED');
    expect(refused.headers).toMatchObject({
      'ratelimit-remaining': '0',
      'retry-after': refused.headers['ratelimit-reset'],
    });
    expect(refused.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
  });

  test('are the same over GraphQL and REST, and apart for reads and writes', async () => {
    const caller = await newCaller();

    for (let asked = 0; asked < QUOTAS.reads / 2; asked += 1) {
      expect((await caller.get(PROJECTS)).status).toBe(200);
      expect((await caller.graphql(QUERY)).status).toBe(200);
    }

    expect(await caller.get(PROJECTS)).toBeError(429, 'RATE_LIMITED');
    expect(await caller.graphql(QUERY)).toBeError(429, 'RATE_LIMITED');
    const written = await write(caller, 1);
    expect(written.status).toBe(200);
    expect(written.headers).toMatchObject({
      'ratelimit-policy': `"writes";q=${QUOTAS.writes};w=60`,
      // The two queries that were refused had been taken for writes.
      'ratelimit-limit': String(QUOTAS.writes),
    });
  });

  test('count a mutation as a write and as nothing else, however many fields it has', async () => {
    const caller = await newCaller();

    const replies = await exhaust(() => write(caller, 3));

    expect(passed(replies)).toBe(QUOTAS.writes);
    expect(replies.map(({ headers }) => Number(headers['ratelimit-remaining']))).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0,
    ]);
    const { headers } = await caller.get(PROJECTS);
    // The one that was refused stays counted as the read that it was taken for.
    expect(headers['ratelimit-remaining']).toBe(String(QUOTAS.reads - 2));
  });

  test('refuse documents of no use before they are parsed, when there is nothing left', async () => {
    const caller = await newCaller();

    const replies = await exhaust(() => caller.graphql('{ not a field'));

    expect(passed(replies)).toBe(QUOTAS.reads + QUOTAS.writes);
    expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
    expect(await write(caller, 1)).toBeError(429, 'RATE_LIMITED');
  });

  test('come before the shape of a request', async () => {
    const caller = await newCaller();

    const replies = await exhaust(() =>
      caller.post('/api/v1/projects/none', { nope: 1 }).then(() => caller.post('/api/v2/workspace', { nope: 1 })),
    );

    expect(replies[0]).toBeError(422, 'VALIDATION_FAILED');
    expect(replies[0]?.headers['ratelimit-remaining']).toBe(String(QUOTAS.writes - 1));
    expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
  });

  test('are those of one token: another goes on, and so does the node', async () => {
    const [caller, other] = [await newCaller(), await newCaller()];
    await exhaust(() => caller.get(PROJECTS));

    expect((await other.get(PROJECTS)).headers['ratelimit-remaining']).toBe(String(QUOTAS.reads - 1));
    const status = await caller.get('/api/status');
    expect(status.status).toBe(200);
    expect(limitHeadersOf(status)).toEqual([]);
  });

  test('count credentials that are made, under whatever names a document has them', async () => {
    const caller = await newCaller();
    const identityId = await identityOf(caller);
    const mint = 'createAccessToken(input: { identityId: $id }) { __typename }';
    const mints = (names: readonly string[]) =>
      caller.graphql(`mutation ($id: ID!) { ${names.map((name) => `${name}: ${mint}`).join(' ')} }`, {
        id: identityId,
      });

    const first = mustSucceed(await mints(['a', 'b', 'c']));
    const tooMany = await mints(['a', 'b']);
    const last = await mints(['a']);
    const rest = await caller.post(`/api/v1/auth/token-auth/identities/${identityId}/tokens`, {});

    expect(first.headers).toMatchObject({
      'ratelimit-policy': `"writes";q=${QUOTAS.writes};w=60, "mints";q=${QUOTAS.mints};w=60`,
      'ratelimit-limit': String(QUOTAS.mints),
      'ratelimit-remaining': '1',
    });
    expect(tooMany).toBeError(429, 'RATE_LIMITED');
    expect(last.status).toBe(200);
    expect(rest).toBeError(429, 'RATE_LIMITED');
    expect(rest.headers['ratelimit-policy']).toBe(`"mints";q=${QUOTAS.mints};w=60`);
    expect((await write(caller, 1)).status).toBe(200);
  });

  test('leave no trace of a refused request: no audit row, no claim of its idempotency key', async () => {
    const caller = await newCaller();
    await exhaust(() => write(caller, 1));
    const key = `k-${randomUUID()}`;
    const before = await strongroom.sql('select count(*) from idempotency_key');

    const refused = await write(caller, 1, { 'idempotency-key': key });

    expect(refused).toBeError(429, 'RATE_LIMITED');
    expect(await strongroom.sql('select count(*) from idempotency_key')).toEqual(before);
    expect(await strongroom.auditRows('request_id = $1', [refused.headers['x-request-id']])).toEqual([]);
    expect(await metricAt(node, 'strongroom_rate_limited_total{limit="writes"}')).toBeGreaterThan(0);
  });
});

// Before others use up what an address may fail there, which new tokens are refused for as well.
describe('a window', () => {
  test('passes: after Retry-After there is room again', async () => {
    const caller = await newCallerAt(distrusting, strongroom);
    const refused = (await exhaust(() => caller.get(PROJECTS))).at(-1) as Reply;
    expect(refused).toBeError(429, 'RATE_LIMITED');
    expect(refused.headers['ratelimit-policy']).toBe('"reads";q=3;w=5');

    await delay(Number(refused.headers['retry-after']) * 1_000);

    expect((await caller.get(PROJECTS)).status).toBe(200);
  });
});

describe('the limits of an address', () => {
  const unknown = (address: string) => new Caller(node.url, mintToken()).get(PROJECTS, { 'x-forwarded-for': address });

  test('stop unknown tokens before they reach the database, and nobody elsewhere', async () => {
    const [address, known] = [newAddress(), await newCaller()];
    mustSucceed(await known.get(PROJECTS, { 'x-forwarded-for': address }));

    const replies = await exhaust(() => unknown(address));
    const before = await statements();
    const further = await Promise.all(Array.from({ length: 20 }, () => unknown(address)));
    const after = await statements();

    expect(passed(replies)).toBe(QUOTAS.failures);
    expect(replies[0]).toBeError(401, 'TOKEN_INVALID');
    for (const reply of [...replies.slice(-1), ...further]) expect(reply).toBeError(429, 'RATE_LIMITED');
    expect(after).toBe(before);
    expect(replies.at(-1)?.headers['ratelimit-policy']).toBe(`"failures";q=${QUOTAS.failures};w=60`);
    expect(await unknown(newAddress())).toBeError(401, 'TOKEN_INVALID');
    // One that passed lately is no guess.
    expect((await known.get(PROJECTS, { 'x-forwarded-for': address })).status).toBe(200);
  });

  test('hold however many come at once', async () => {
    const address = newAddress();

    const replies = await Promise.all(Array.from({ length: 40 }, () => unknown(address)));

    expect(passed(replies)).toBe(QUOTAS.failures);
  });

  test('are those of a network of IPv6, of which a caller has every address', async () => {
    let host = 0;
    const replies = await exhaust(() => {
      host += 1;
      return unknown(`2001:db8:1:2:${host}::1`);
    });

    expect(passed(replies)).toBe(QUOTAS.failures);
    expect(await unknown('2001:db8:1:3::1')).toBeError(401, 'TOKEN_INVALID');
  });

  test('stop guesses of tokens that stand in a body', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const renew = () =>
      new Caller(node.url, null).post('/api/v1/auth/token/renew', { accessToken: mintToken() }, headers);

    const replies = await exhaust(renew);

    expect(replies[0]).toBeError(401, 'TOKEN_INVALID');
    expect(passed(replies)).toBe(QUOTAS.failures);
  });

  test('are those of the proxy where it is not trusted', async () => {
    const guess = () => new Caller(distrusting.url, mintToken()).get(PROJECTS, { 'x-forwarded-for': newAddress() });
    expect(passed(await exhaust(guess))).toBe(QUOTAS.failures);
  });

  test.each([
    ['GraphQL', (caller: Caller, headers: Record<string, string>) => caller.graphql('{ __typename }', {}, headers)],
    ['REST', (caller: Caller, headers: Record<string, string>) => caller.get(PROJECTS, headers)],
  ])('count requests without a token over %s', async (_, ask) => {
    const headers = { 'x-forwarded-for': newAddress() };

    const replies = await exhaust(() => ask(new Caller(node.url, null), headers));

    expect(passed(replies)).toBe(QUOTAS.anonymous);
    expect(replies[0]?.headers).toMatchObject({
      'ratelimit-policy': `"anonymous";q=${QUOTAS.anonymous};w=60`,
      'ratelimit-remaining': String(QUOTAS.anonymous - 1),
    });
    expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
  });

  test.each(['/openapi.json', '/', '/docs', '/assets/strongroom.css', '/favicon.ico', '/graphql'])(
    'count %s, whatever token comes with it, as requests without one',
    async (path) => {
      const headers = { 'x-forwarded-for': newAddress(), accept: 'text/html, */*;q=0.1' };
      const caller = await newCaller();

      const replies = await exhaust(() => caller.get(path, headers));

      expect(passed(replies)).toBe(QUOTAS.anonymous);
      expect(replies[0]?.headers['ratelimit-remaining']).toBe(String(QUOTAS.anonymous - 1));
      expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
      expect(replies.at(-1)?.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
      expect((await caller.get(PROJECTS, headers)).status).toBe(200);
    },
  );

  test.each(['/livez', '/readyz', '/api/status', '/metrics', '/nowhere'])(
    'do not count %s: a refusal would cost as much as the answer',
    async (path) => {
      const caller = new Caller(node.url, null);
      const statuses = new Set<number>();
      for (let asked = 0; asked <= QUOTAS.anonymous; asked += 1) statuses.add((await caller.get(path)).status);
      expect([...statuses]).toEqual([path === '/nowhere' ? 404 : 200]);
    },
  );
});

describe('logins', () => {
  interface Client {
    readonly clientId: string;
    readonly clientSecret: string;
  }

  async function newClient(): Promise<Client> {
    const { admin } = await strongroom.seed.organization();
    const path = `/api/v1/auth/universal-auth/identities/${await identityOf(admin)}`;
    const { clientId } = mustSucceed(await admin.post(path, {})).body.identityUniversalAuth;
    return { clientId, clientSecret: mustSucceed(await admin.post(`${path}/client-secrets`, {})).body.clientSecret };
  }

  const logIn = (client: Client, address: string): Promise<Reply> =>
    new Caller(node.url, null).post(LOGIN, client, { 'x-forwarded-for': address });
  const guess = ({ clientId }: Client, address: string): Promise<Reply> =>
    logIn({ clientId, clientSecret: mintClientSecret() }, address);

  test('with wrong secrets are stopped by address before they reach the database, whatever client they name', async () => {
    const address = newAddress();

    const replies = await exhaust(() => guess({ clientId: randomUUID(), clientSecret: '' }, address));
    const before = await statements();
    const further = await guess(await newClient(), address);

    expect(replies[0]).toBeError(401, 'CREDENTIALS_INVALID');
    expect(passed(replies)).toBe(QUOTAS.failures);
    expect(further).toBeError(429, 'RATE_LIMITED');
    expect(await statements()).toBe(before);
    // Names that a refused caller makes up take no memory.
    const buckets = () => metricAt(node, 'strongroom_rate_limit_buckets');
    const known = await buckets();
    for (let made = 0; made < 20; made += 1) await guess({ clientId: randomUUID(), clientSecret: '' }, address);
    expect(await buckets()).toBeLessThanOrEqual(known);
  });

  test('with wrong secrets at a client id, from wherever they come, do not lock out its owner', async () => {
    const client = await newClient();
    for (let made = 0; made < 3 * QUOTAS.failures; made += 1)
      expect(await guess(client, newAddress())).toBeError(401, 'CREDENTIALS_INVALID');

    expect((await logIn(client, newAddress())).status).toBe(200);
  });

  test('that are right use nothing up but the tokens that a client makes', async () => {
    const [client, other, address] = [await newClient(), await newClient(), newAddress()];

    const replies = await exhaust(() => logIn(client, newAddress()));

    expect(passed(replies)).toBe(QUOTAS.mints);
    expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
    expect(replies.at(-1)?.headers).toMatchObject({ 'ratelimit-policy': `"mints";q=${QUOTAS.mints};w=60` });
    expect((await logIn(other, address)).status).toBe(200);
  });

  test('over GraphQL are counted like those over REST', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const input = { clientId: randomUUID(), clientSecret: mintClientSecret() };
    const document =
      'mutation ($input: LogInWithUniversalAuthInput!) { logInWithUniversalAuth(input: $input) { accessToken } }';

    const replies = await exhaust(() => new Caller(node.url, null).graphql(document, { input }, headers));

    expect(replies[0]).toBeError(401, 'CREDENTIALS_INVALID');
    expect(passed(replies)).toBe(QUOTAS.failures);
    expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
    expect(replies.at(-1)?.headers['retry-after']).toMatch(/^\d+$/);
  });
});

test('RATE_LIMIT=off limits nothing and says nothing of limits', async () => {
  const { admin } = await strongroom.seed.organization();
  const replies = await exhaust(() => admin.get(PROJECTS), QUOTAS.reads + 10);
  expect(passed(replies)).toBe(QUOTAS.reads + 10);
  expect(replies.flatMap(limitHeadersOf)).toEqual([]);
});

/** A machine identity with token authentication, in the organization of the caller, made where nothing is counted. */
async function identityOf(caller: Caller): Promise<string> {
  const { createIdentity } = await caller
    .at(strongroom.url)
    .data('mutation { createIdentity(input: { name: "machine" }) { identity { id } } }');
  const { id } = createIdentity.identity;
  mustSucceed(await caller.at(strongroom.url).post(`/api/v1/auth/token-auth/identities/${id}`, {}));
  return id;
}
