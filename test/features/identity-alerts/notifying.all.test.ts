import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { testInAll } from '../../kit/scope.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';
import { ALERTS, accessToken, clientSecret, identityWithAuth, makeAlert, revoke } from './kit.js';

const WAIT_MS = 50_000;
const DAY = 86_400;

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());

const hook = (server: OutsideServer) => ({
  name: 'hook',
  channelType: 'webhook',
  config: { url: server.url('/') },
  enabled: true,
});
// biome-ignore lint/suspicious/noExplicitAny: as receivers get them
const eventsOf = ({ received }: OutsideServer): any[] => received.map(({ body }) => JSON.parse(body));
const idsOf = (server: OutsideServer): string[] => eventsOf(server).map(({ data }) => data.credentials[0].id);
const arrived = (server: OutsideServer, count: number) =>
  until(
    () => `${count} requests, ${server.received.length} so far`,
    WAIT_MS,
    () => server.received.length >= count,
  );

/** An identity, and an alert of it that notifies a server. */
async function watched(body: Readonly<Record<string, unknown>> = {}) {
  const { admin } = notifying;
  const identityId = await identityWithAuth(admin);
  const server = await notifying.server();
  const alert = await makeAlert(admin, identityId, { channels: [hook(server)], ...body });
  return { identityId, server, alertId: alert.id as string };
}

/** Has alerts look for what is due, as at midnight, and waits until the one has. */
async function look(alertId: string): Promise<void> {
  const ended = `select count(*)::int as count from job_attempt a join job j on j.id = a.job_id where j.subject_id = $1 and a.ended_at is not null`;
  const count = async () => (await notifying.sql<{ count: number }>(ended, [alertId]))[0]?.count ?? 0;
  await idle(alertId);
  const before = await count();
  await notifying.sql(
    `insert into job (id, kind, dedupe_key, state, wake_at) values (gen_random_uuid(), 'identity-alerts:find-due', $1, 'waiting', now())`,
    [randomUUID()],
  );
  await until('the alert to look', WAIT_MS, async () => (await count()) > before);
  await idle(alertId);
}

/** Once the alert has looked at everything that it was asked to, and everything is sent that it found. */
async function idle(alertId: string): Promise<void> {
  await until('the alert to be idle', WAIT_MS, async () => {
    const open = await notifying.sql(
      `select from job where subject_id = $1 and (state = 'running' or state = 'waiting' and wake_at <= now())
       union all select from notification_message where owner_id = $1 and state = 'pending' and attempts = 0`,
      [alertId],
    );
    return open.length === 0;
  });
}

/** The end of a credential, so many days from now. */
const endIn = (table: string, id: string, days: number) =>
  notifying.sql(`update ${table} set expires_at = now() + $2 * interval '1 day' where id = $1`, [id, days]);

describe('an alert of an identity', () => {
  test('notifies once of each credential that comes within its time, of a client secret as of an access token', async () => {
    const { admin } = notifying;
    const { identityId, server, alertId } = await watched();
    const soon = await clientSecret(admin, identityId, 20 * DAY, 'pipeline secret');
    const later = await clientSecret(admin, identityId, 31 * DAY);
    await clientSecret(admin, identityId, 0);
    await arrived(server, 1);
    const token = await accessToken(admin, identityId);
    await endIn('access_token', token.id, 10);
    await look(alertId);
    await arrived(server, 2);
    expect(idsOf(server)).toEqual([soon.id, token.id]);
    // One day later, as far as the other client secret can tell.
    await endIn('universal_auth_client_secret', later.id, 29.9);
    await look(alertId);
    await arrived(server, 3);
    await look(alertId);
    await look(alertId);
    expect(idsOf(server)).toEqual([soon.id, token.id, later.id]);

    const [event] = eventsOf(server);
    const { identity } = await admin.data('query ($id: ID!) { identity(id: $id) { name } }', { id: identityId });
    expect(event).toMatchObject({
      specversion: '1.0',
      type: 'com.strongroom.identity.authentication.expiry',
      data: {
        alert: { id: alertId, alertBefore: '30d', projectId: null },
        identity: { id: identityId, name: identity.name },
        credentials: [{ kind: 'client-secret', name: 'pipeline secret', expiresAt: expect.any(String) }],
      },
    });
    const sent = JSON.stringify(server.received);
    for (const { text } of [soon, later, token]) expect(sent).not.toContain(text);
    expect(sent).not.toMatch(/sr[ts]_[\w-]{8}/);
  });

  test('looks again by itself when the next credential comes within its time', async () => {
    const { identityId, server, alertId } = await watched();
    const { id } = await clientSecret(notifying.admin, identityId, 30 * DAY + 3);
    await arrived(server, 1);
    expect(idsOf(server)).toEqual([id]);
    const attempts = await notifying.sql(
      `select from job_attempt a join job j on j.id = a.job_id where j.subject_id = $1`,
      [alertId],
    );
    expect(attempts.length).toBeGreaterThanOrEqual(2);
  });

  test('notifies of what is there when it is created, and of nothing that is revoked, used up or expired', async () => {
    const { admin } = notifying;
    const identityId = await identityWithAuth(admin);
    const [revoked, spent, expired, due] = [
      await clientSecret(admin, identityId, DAY),
      await clientSecret(admin, identityId, DAY),
      await clientSecret(admin, identityId, DAY),
      await clientSecret(admin, identityId, 2 * DAY),
    ];
    await revoke(admin, identityId, revoked.id);
    await notifying.sql('update universal_auth_client_secret set num_uses_limit = 1, num_uses = 1 where id = $1', [
      spent.id,
    ]);
    await endIn('universal_auth_client_secret', expired.id, -1);
    const server = await notifying.server();
    const { id } = await makeAlert(admin, identityId, { channels: [hook(server)] });
    await arrived(server, 1);
    await look(id);
    expect(idsOf(server)).toEqual([due.id]);
  });

  test('with daily reminders notifies once on each day', async () => {
    const { admin } = notifying;
    const { identityId, server, alertId } = await watched({ condition: { alertBefore: '7d', dailyReminder: true } });
    const { id } = await clientSecret(admin, identityId, 5 * DAY);
    await arrived(server, 1);
    await look(alertId);
    expect(idsOf(server)).toEqual([id]);
    // As if that had been yesterday.
    const yesterday = `update notification_delivery set occurrence = 'before ' || occurrence where owner_id = $1`;
    await notifying.sql(yesterday, [alertId]);
    await look(alertId);
    await arrived(server, 2);
    expect(idsOf(server)).toEqual([id, id]);
    await revoke(admin, identityId, id);
    await notifying.sql(yesterday, [alertId]);
    await look(alertId);
    expect(server.received).toHaveLength(2);
  });

  test('notifies anew of a token that was renewed, once that is about to expire, and of none that renewals keep alive', async () => {
    const { admin } = notifying;
    const { identityId, server, alertId } = await watched();
    const token = await accessToken(admin, identityId);
    await endIn('access_token', token.id, 10);
    await look(alertId);
    await arrived(server, 1);
    const renew = (lived: number, left: number) =>
      notifying.sql(
        `update access_token set last_renewed_at = now() - $2 * interval '1 day', expires_at = now() + $3 * interval '1 day' where id = $1`,
        [token.id, lived, left],
      );
    await renew(0, 90);
    await look(alertId);
    expect(server.received).toHaveLength(1);
    await renew(70, 20);
    await look(alertId);
    await arrived(server, 2);
    await look(alertId);
    expect(idsOf(server)).toEqual([token.id, token.id]);
    // Each renewal gives it 15 days: it is always about to expire.
    await renew(1, 14);
    await look(alertId);
    expect(server.received).toHaveLength(2);
    // This was the last one.
    await notifying.sql(
      `update access_token set max_ttl_seconds = 86400, ttl_seconds = 86400, created_at = now() - interval '1 hour', expires_at = now() + interval '10 hours'
       where id = $1`,
      [token.id],
    );
    await look(alertId);
    await arrived(server, 3);
  });

  test('that is disabled notifies nobody, and does so once it is enabled', async () => {
    const { identityId, server, alertId } = await watched({ enabled: false });
    const { id } = await clientSecret(notifying.admin, identityId, DAY);
    mustSucceed(await notifying.admin.patch(`${ALERTS}/${alertId}`, { enabled: true }));
    await arrived(server, 1);
    expect(idsOf(server)).toEqual([id]);
    const other = await notifying.server();
    mustSucceed(
      await notifying.admin.patch(`${ALERTS}/${alertId}`, { channels: [{ ...hook(other), enabled: false }] }),
    );
    await clientSecret(notifying.admin, identityId, DAY);
    await look(alertId);
    expect([server.received.length, other.received.length]).toEqual([1, 0]);
  });

  test('sends again what was refused or cancelled, once, as soon as it is enabled', async () => {
    const { admin } = notifying;
    let status = 400;
    const server = await notifying.server((_, response) => response.writeHead(status).end());
    const { identityId, alertId } = await watched({ channels: [hook(server)] });
    await clientSecret(admin, identityId, DAY);
    const becomes = (state: string) =>
      until(`a message that is ${state}`, WAIT_MS, async () => {
        await notifying.hurry('identity-alerts:send');
        return (await notifying.messages(alertId)).map((message) => message.state).join() === state;
      });
    await becomes('failed');
    status = 500;
    const setEnabled = async (enabled: boolean) => mustSucceed(await admin.patch(`${ALERTS}/${alertId}`, { enabled }));
    const isPending = async () => (await notifying.messages(alertId))[0]?.state === 'pending';
    mustSucceed(await admin.patch(`${ALERTS}/${alertId}`, { name: 'Another name' }));
    await until('another attempt', WAIT_MS, isPending);
    await setEnabled(false);
    await becomes('cancelled');
    status = 200;
    await setEnabled(true);
    await becomes('sent');
    const [{ id }] = eventsOf(server);
    const accepted = server.received.length;
    const { body } = mustSucceed(await admin.post(`${ALERTS}/${alertId}/retry-messages`, {}));
    expect(body).toEqual({ count: 0, hasMore: false });
    await look(alertId);
    expect(server.received).toHaveLength(accepted);
    expect(new Set(eventsOf(server).map((event) => event.id))).toEqual(new Set([id]));
  });

  test('says nothing of a credential that was revoked before it was sent', async () => {
    const { admin } = notifying;
    const { identityId, alertId } = await watched({
      channels: [
        { name: 'mail', channelType: 'email', config: { recipients: ['revoked@example.com'] }, enabled: true },
      ],
    });
    const back = await notifying.withoutMail();
    const { id } = await clientSecret(admin, identityId, DAY);
    await until('an attempt', WAIT_MS, async () => ((await notifying.messages(alertId))[0]?.attempts ?? 0) > 0);
    await revoke(admin, identityId, id);
    await back();
    await notifying.hurry('identity-alerts:send');
    await until('the end', WAIT_MS, async () => (await notifying.messages(alertId))[0]?.state === 'cancelled');
    expect(await notifying.messages(alertId)).toMatchObject([{ error_code: 'CREDENTIALS_REMOVED' }]);
    expect(notifying.mail.mailsTo('revoked@example.com')).toEqual([]);
  });
});

describe('recipients of an alert', () => {
  async function person(): Promise<{ id: string; username: string }> {
    const document = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username } } }';
    const input = { username: `${randomUUID().slice(0, 8)}@example.com` };
    return (await notifying.admin.data(document, { input })).createUser.user;
  }

  test('of the organization are its users, and those of its groups, when a mail is sent', async () => {
    const { admin } = notifying;
    const [user, inGroup] = [await person(), await person()];
    const group = mustSucceed(await admin.post('/api/v1/groups', { name: `group-${randomUUID().slice(0, 8)}` })).body;
    const add = 'mutation ($input: AddGroupMemberInput!) { addGroupMember(input: $input) { __typename } }';
    await admin.data(add, { input: { groupId: group.id, userId: inGroup.id } });
    const recipients = [
      { principalType: 'user', principalId: user.id },
      { principalType: 'group', principalId: group.id },
    ];
    const { identityId } = await watched({
      channels: [{ name: 'mail', channelType: 'email', config: {}, enabled: true, recipients }],
    });
    const { text } = await clientSecret(admin, identityId, DAY, 'mailed secret');
    for (const { username } of [user, inGroup]) {
      await until('the mail', WAIT_MS, () => notifying.mail.mailsTo(username).length > 0);
      const mails = notifying.mail.mailsTo(username).filter(({ mail }) => mail.text?.includes('mailed secret'));
      expect(mails).toHaveLength(1);
      expect(mails[0]?.mail.text).not.toContain(text);
    }
  });
});

describe('an alert of a project', () => {
  test('notifies only while the identity is a member of the project', async () => {
    const { admin } = notifying;
    const { id: projectId } = await new Seed(admin).projectOf(admin);
    const identityId = await identityWithAuth(admin);
    const membership = `/api/v2/workspace/${projectId}/identity-memberships/${identityId}`;
    mustSucceed(await admin.post(membership, { role: 'viewer' }));
    const server = await notifying.server();
    const { id: alertId } = await makeAlert(admin, identityId, { projectId, channels: [hook(server)] });
    const { id } = await clientSecret(admin, identityId, DAY);
    await arrived(server, 1);
    expect(eventsOf(server)[0].data.alert.projectId).toBe(projectId);
    mustSucceed(await admin.delete(membership));
    await clientSecret(admin, identityId, DAY);
    await look(alertId);
    expect(idsOf(server)).toEqual([id]);
  });
});

testInAll('two nodes that look at once send each notification once', async () => {
  const { admin } = notifying;
  const second = await notifying.anotherNode();
  try {
    const identityId = await identityWithAuth(admin);
    const ids: string[] = [];
    for (let at = 0; at < 20; at += 1) ids.push((await clientSecret(admin, identityId, DAY + at)).id);
    const servers = [await notifying.server(), await notifying.server()];
    const { id: alertId } = await makeAlert(admin, identityId, { channels: servers.map(hook) });
    const onSecond = new Caller(second.url, admin.token, admin.identityId);
    // Each change has the alert look again, on whichever node.
    for (let at = 1; at <= 5; at += 1)
      await Promise.all(
        [admin, onSecond].map((caller, node) =>
          caller.patch(`${ALERTS}/${alertId}`, { description: `change ${at} of node ${node}` }),
        ),
      );
    for (const server of servers) await arrived(server, ids.length);
    await look(alertId);
    for (const server of servers) expect(idsOf(server).sort()).toEqual(ids.toSorted());
  } finally {
    expect(await second.stop()).toBe(0);
  }
});
