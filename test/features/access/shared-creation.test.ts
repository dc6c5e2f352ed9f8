import type pg from 'pg';
import { mustSucceed } from '../../kit/caller.js';
import { withRefused } from '../../kit/poison.js';
import { Caller, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import type { Sql } from '../../kit/trail.js';
import { untilWaiting } from '../../kit/waiting.js';
import { makeIdentity, makeToken } from './scenario.js';

const strongroom = useSharedStrongroom();
let admin: Caller;
let identityId: string;
beforeEach(async () => {
  ({ admin } = await strongroom.seed.organization());
  identityId = await makeIdentity(admin, {});
});

/** Fewer than a test has connections. */
const MANY = 90;

const path = () => `/api/v1/auth/token-auth/identities/${identityId}/tokens`;

/** Sends many requests at once, of which none can end while somebody holds the identity. */
async function whileHeld(
  by: Caller,
  meanwhile: (client: pg.Client) => Promise<unknown>,
  nameOf = (at: number): string => `token ${at}`,
): Promise<Reply[]> {
  // From now on the node knows what the caller may do.
  for (let time = 0; time < 2; time += 1) mustSucceed(await by.get('/api/v1/projects'));
  return withClient(strongroom.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('select from identity where id = $1 for update', [identityId]);
    const sent = Array.from({ length: MANY }, (_, at) => by.post(path(), { name: nameOf(at) }));
    await untilWaiting(strongroom, 1, sent[0]);
    // What was sent before them has arrived once these are answered.
    for (let time = 0; time < 10; time += 1) mustSucceed(await by.anonymous.get('/livez'));
    await meanwhile(client);
    await client.query('commit');
    return Promise.all(sent);
  });
}

const stored = () =>
  strongroom.sql<{ id: string; name: string }>('select id, name from access_token where identity_id = $1', [
    identityId,
  ]);

const recorded = (action: string, outcome: string) =>
  strongroom.sql<{ request: string; token: string | null; transaction: string }>(
    `select request_id as request, facts ->> 'accessTokenId' as token, xmin::text as transaction from audit_record
      where action = $1 and outcome = $2 and organization_id = (select organization_id from identity where id = $3)`,
    [action, outcome, identityId],
  );

test('many at once for one identity share transactions, and each has its own token and record', async () => {
  const replies = await whileHeld(admin, async () => {});
  const tokens = await Promise.all(
    replies.map(async (reply, at) => {
      const { accessToken, tokenData } = mustSucceed(reply).body;
      expect(tokenData.name).toBe(`token ${at}`);
      const { viewer } = await new Caller(admin.url, accessToken).data('{ viewer { token { id } identityId } }');
      expect(viewer).toEqual({ token: { id: tokenData.id }, identityId });
      return { request: reply.headers['x-request-id'], token: tokenData.id };
    }),
  );
  const rows = await stored();
  expect(new Map(rows.map(({ id, name }) => [id, name]))).toEqual(
    new Map(tokens.map(({ token }, at) => [token, `token ${at}`])),
  );
  const records = await recorded('access-token:create', 'allowed');
  expect(records).toHaveLength(MANY);
  expect(new Map(records.map(({ request, token }) => [request, token]))).toEqual(
    new Map(tokens.map(({ request, token }) => [request, token])),
  );
  expect(new Set(records.map(({ transaction }) => transaction)).size).toBeLessThan(MANY / 2);
});

test('what the database refuses of one of them is refused of no other', async () => {
  const isPoisoned = (at: number): boolean => at % 30 === 7;
  const nameOf = (at: number): string => (isPoisoned(at) ? 'poison' : `token ${at}`);
  const sql: Sql = (text) => strongroom.sql(text);
  const replies = await withRefused(sql, 'access_token', `name <> 'poison'`, () =>
    whileHeld(admin, async () => {}, nameOf),
  );
  expect(replies.map(({ status, body }) => [status, body.code])).toEqual(
    replies.map((_, at) => (isPoisoned(at) ? [500, 'INTERNAL'] : [200, undefined])),
  );
  const names = replies.flatMap((_, at) => (isPoisoned(at) ? [] : [nameOf(at)]));
  expect((await stored()).map(({ name }) => name).sort()).toEqual(names.sort());
  expect(await recorded('access-token:create', 'allowed')).toHaveLength(names.length);
  // And it is whole again.
  mustSucceed(await admin.post(path(), { name: 'poison' }));
});

test('where the identity is deleted meanwhile, none is created, and others are afterwards', async () => {
  const replies = await whileHeld(admin, (client) => client.query('delete from identity where id = $1', [identityId]));
  for (const reply of replies)
    expect([reply.status, reply.body.code]).toEqual([404, expect.stringMatching(/_NOT_FOUND$/)]);
  expect(await stored()).toEqual([]);
  identityId = await makeIdentity(admin, {});
  const { tokenData } = await makeToken(admin, identityId);
  expect(await stored()).toMatchObject([{ id: tokenData.id }]);
});

test('whoever comes after a right was withdrawn does not share what it allowed', async () => {
  const maker = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  const late: Reply[] = [];
  const replies = await whileHeld(maker, async () => {
    mustSucceed(await admin.patch(`/api/v1/identities/${maker.identityId}`, { role: 'no-access' }));
    // For the first one, the node reads anew what the caller may do.
    for (let time = 0; time < 3; time += 1) late.push(await maker.post(path(), {}));
  });
  for (const reply of late) expect(reply).toBeError(403, 'PERMISSION_DENIED');
  for (const reply of replies) mustSucceed(reply);
  expect(await stored()).toHaveLength(MANY);
});

test('many who may not do so are refused, and each refusal is recorded', async () => {
  const stranger = await strongroom.seed.caller(admin, { organizationRole: 'member' });
  await admin.patch(`/api/v1/identities/${identityId}`, { role: 'admin' });
  mustSucceed(await stranger.get('/api/v1/projects'));
  const replies = await Promise.all(Array.from({ length: MANY }, () => stranger.post(path(), {})));
  for (const reply of replies) expect(reply).toBeError(403, reply.body.code);
  expect(await stored()).toEqual([]);
  const requests = new Set((await recorded('identity:create-token', 'denied')).map(({ request }) => request));
  expect(requests).toEqual(new Set(replies.map(({ headers }) => headers['x-request-id'])));
});
