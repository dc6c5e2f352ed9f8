import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import { testInAll } from '../../kit/scope.js';
import { until } from '../../kit/until.js';
import { violationsOf } from '../alerts/kit.js';

const WAIT_MS = 30_000;
const ALERTS = '/api/v1/cert-manager/alerts';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());
// What one test leaves would be sent by the alerts of the next one.
afterEach(() => notifying.sql('delete from certificate_alert; delete from certificate'));

const equals = (value: string) => [{ field: 'common_name', operator: 'equals', value }];
const mail = (...recipients: string[]) => ({ channelType: 'email', config: { recipients } });
const settled = (alertId: string, count: number, state = 'sent') =>
  until(`${count} messages that are ${state}`, WAIT_MS, async () => {
    const messages = await notifying.messages(alertId);
    return messages.length === count && messages.every((message) => message.state === state);
  });
const messagesOf = async (alertId: string, query = '') =>
  mustSucceed(await notifying.admin.get(`${ALERTS}/${alertId}/messages${query}`)).body;

describe('the history of an alert', () => {
  test('tells to whom it sent what, as long as the channel has the address', async () => {
    const id = await notifying.certificate(9, 'told.example.com');
    const channel = mail('ann@example.com', 'Bob@example.com');
    const alertId = await notifying.alert([channel], { filters: equals('told.example.com') });
    await settled(alertId, 2);
    const { messages } = await messagesOf(alertId);
    expect(messages.map(({ recipient }: { recipient: string }) => recipient).sort()).toEqual([
      'Bob@example.com',
      'ann@example.com',
    ]);
    expect(messages[0]).toMatchObject({
      alertId,
      event: 'expiration',
      state: 'sent',
      channelType: 'email',
      attempts: 1,
      nextAttemptAt: null,
      errorCode: null,
      endedAt: expect.any(String),
      certificateCount: 1,
      certificates: [{ id, commonName: 'told.example.com', notAfter: expect.any(String) }],
    });
    const { alert } = (await notifying.admin.get(`${ALERTS}/${alertId}`)).body;
    const changed = { ...mail('carl@example.com'), id: alert.channels[0].id };
    mustSucceed(await notifying.admin.patch(`${ALERTS}/${alertId}`, { channels: [changed] }));
    await settled(alertId, 3);
    const after = (await messagesOf(alertId)).messages;
    expect(after.map(({ recipient }: { recipient: string | null }) => recipient)).toEqual([
      'carl@example.com',
      null,
      null,
    ]);
  });

  test('comes in pages, newest first, and of one state', async () => {
    const alertId = await notifying.alert([mail('pages@example.com')], { filters: equals('pages.example.com') });
    for (let made = 1; made <= 3; made += 1) {
      await notifying.certificate(5 + made, 'pages.example.com');
      await settled(alertId, made);
    }
    const all = (await messagesOf(alertId)).messages;
    const first = await messagesOf(alertId, '?limit=2');
    const second = await messagesOf(alertId, `?limit=2&cursor=${first.nextCursor}`);
    expect([...first.messages, ...second.messages]).toEqual(all);
    expect(second.nextCursor).toBeUndefined();
    expect(all.map(({ createdAt }: { createdAt: string }) => createdAt)).toEqual(
      all.map(({ createdAt }: { createdAt: string }) => createdAt).toSorted((a: string, b: string) => (a < b ? 1 : -1)),
    );
    expect((await messagesOf(alertId, '?state=failed')).messages).toEqual([]);
    expect((await messagesOf(alertId, '?state=sent')).messages).toHaveLength(3);
  });

  test('is part of alerts and hides certificates that the caller may not read', async () => {
    await notifying.certificate(9, 'nested.example.com');
    const alertId = await notifying.alert([mail('nested@example.com')], { filters: equals('nested.example.com') });
    await settled(alertId, 1);
    const document = `query ($id: ID!) { certificateAlert(id: $id) {
      lastMessage { id state recipient certificates { commonName } channel { id } alert { id } }
      messages { nodes { id } } sent: messages(first: 1, state: SENT) { nodes { id } pageInfo { hasNextPage } } } }`;
    const { certificateAlert } = await notifying.admin.data(document, { id: alertId });
    expect(certificateAlert.lastMessage).toMatchObject({
      state: 'SENT',
      recipient: 'nested@example.com',
      certificates: [{ commonName: 'nested.example.com' }],
      alert: { id: alertId },
    });
    expect(certificateAlert.messages.nodes).toEqual([{ id: certificateAlert.lastMessage.id }]);
    const reader = await notifying.member([{ subject: 'pki-alerts', action: 'read' }]);
    expect(mustSucceed(await reader.get(`${ALERTS}/${alertId}/messages`)).body.messages).toMatchObject([
      { certificateCount: 1, certificates: [] },
    ]);
    const editor = await notifying.member([{ subject: 'pki-alerts', action: 'create' }]);
    expect(await editor.get(`${ALERTS}/${alertId}/messages`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await notifying.admin.get(`${ALERTS}/${randomUUID()}/messages`)).toBeError(
      404,
      'CERTIFICATE_ALERT_NOT_FOUND',
    );
  });
});

describe('a message that was given up', () => {
  test('is sent when it is retried, once, under the id that it had', async () => {
    let status = 400;
    const server = await notifying.server((_, response) => response.writeHead(status).end());
    await notifying.certificate(9, 'retried.example.com');
    const channel = { channelType: 'webhook', config: { url: server.url('/') } };
    const alertId = await notifying.alert([channel], { filters: equals('retried.example.com') });
    await settled(alertId, 1, 'failed');
    const [failed] = (await messagesOf(alertId)).messages;
    expect(failed).toMatchObject({ state: 'failed', errorCode: 'TARGET_REJECTED', recipient: null });
    const path = `${ALERTS}/${alertId}/messages/${failed.id}/retry`;
    const reader = await notifying.member([{ subject: 'pki-alerts', action: 'read' }]);
    expect(await reader.post(path)).toBeError(403, 'PERMISSION_DENIED');
    const other = await notifying.alert([channel], { filters: equals('nobody.example.com') });
    expect(await notifying.admin.post(`${ALERTS}/${other}/messages/${failed.id}/retry`)).toBeError(
      404,
      'ALERT_MESSAGE_NOT_FOUND',
    );
    status = 200;
    const { message } = mustSucceed(await notifying.admin.post(path)).body;
    expect(message).toMatchObject({ id: failed.id, state: 'pending', errorCode: null });
    await settled(alertId, 1);
    expect(await notifying.admin.post(path)).toBeError(409, 'ALERT_MESSAGE_NOT_RETRYABLE');
    expect(server.received.map(({ body }) => JSON.parse(body).id)).toEqual([failed.id, failed.id]);
    const [row] = await notifying.sql<{ days: number }>(
      'select extract(epoch from give_up_at - now()) / 86400 as days from notification_message where id = $1',
      [failed.id],
    );
    expect(Number(row?.days)).toBeGreaterThan(2.9);
  });
});

const TEST = `mutation ($input: TestCertificateAlertInput!) { testCertificateAlert(input: $input) {
  results { channel { id channelType } recipient isAccepted errorCode status } } }`;
const ACCEPTED = { isAccepted: true, errorCode: null, status: null };
const testPath = (alertId: string): string => `${ALERTS}/${alertId}/test`;

describe('a test of an alert', () => {
  test('goes to each enabled channel, says that it is one, and leaves no message', async () => {
    const server = await notifying.server();
    const off = await notifying.server();
    const alertId = await notifying.alert([
      { channelType: 'webhook', config: { url: server.url('/hook') } },
      { channelType: 'email', config: { recipients: ['one@example.com', 'two@example.com'] } },
      { channelType: 'webhook', config: { url: off.url('/') }, enabled: false },
    ]);
    const { results } = mustSucceed(await notifying.admin.post(testPath(alertId), {})).body;
    expect(results).toEqual([
      { channelId: expect.any(String), channelType: 'webhook', recipient: null, ...ACCEPTED },
      { channelId: expect.any(String), channelType: 'email', recipient: 'one@example.com', ...ACCEPTED },
      { channelId: expect.any(String), channelType: 'email', recipient: 'two@example.com', ...ACCEPTED },
    ]);
    const [event, ...others] = server.received.map(({ body }) => JSON.parse(body));
    expect(others).toEqual([]);
    expect(event.type).toMatch(/test$/);
    expect(event.data.certificates).toMatchObject([{ commonName: 'TEST, not a real certificate' }]);
    expect(notifying.mail.mailsTo('one@example.com')[0]?.mail.text).toContain('TEST, not a real certificate');
    expect(off.received).toEqual([]);
    expect(await notifying.messages(alertId)).toEqual([]);
  });

  test('of one channel goes there alone, also when it is disabled', async () => {
    const [first, second] = [await notifying.server(), await notifying.server()];
    const alertId = await notifying.alert([
      { channelType: 'webhook', config: { url: first.url('/') } },
      { channelType: 'webhook', config: { url: second.url('/') }, enabled: false },
    ]);
    const { channels } = (await notifying.admin.get(`${ALERTS}/${alertId}`)).body.alert;
    mustSucceed(await notifying.admin.post(testPath(alertId), { channelId: channels[1].id }));
    expect([first.received.length, second.received.length]).toEqual([0, 1]);
    expect(await notifying.admin.post(testPath(alertId), { channelId: randomUUID() })).toBeError(
      404,
      'ALERT_CHANNEL_NOT_FOUND',
    );
  });

  test('fails over REST where a target refuses it, and tells each outcome over GraphQL', async () => {
    const good = await notifying.server();
    const bad = await notifying.server((_, response) => response.writeHead(503).end('a secret of the target'));
    const alertId = await notifying.alert([
      { channelType: 'webhook', config: { url: good.url('/') } },
      { channelType: 'webhook', config: { url: bad.url('/path-of-hook') } },
    ]);
    const refused = await notifying.admin.post(testPath(alertId), {});
    expect(refused).toBeError(502, 'UPSTREAM_REJECTED');
    expect(refused.body.details).toEqual([
      { path: 'channels[1]', code: 'UPSTREAM_REJECTED', message: 'webhook: TARGET_REJECTED, status 503' },
    ]);
    expect(refused.text).not.toMatch(/a secret of the target|path-of-hook/);
    expect(bad.received).toHaveLength(1);
    const { testCertificateAlert } = await notifying.admin.data(TEST, { input: { id: alertId } });
    const shown = 'query ($id: ID!) { certificateAlert(id: $id) { channels { testedAt testErrorCode } } }';
    expect((await notifying.admin.data(shown, { id: alertId })).certificateAlert.channels).toEqual([
      { testedAt: expect.any(String), testErrorCode: null },
      { testedAt: expect.any(String), testErrorCode: 'TARGET_REJECTED' },
    ]);
    expect(testCertificateAlert.results).toMatchObject([
      { isAccepted: true, errorCode: null, status: null },
      { isAccepted: false, errorCode: 'TARGET_REJECTED', status: 503 },
    ]);
    await bad.stop();
    expect(await notifying.admin.post(testPath(alertId), {})).toBeError(502, 'UPSTREAM_UNREACHABLE');
  });

  testInAll('that hangs ends, and takes the right to edit', async () => {
    const hanging = await notifying.server(() => undefined);
    const alertId = await notifying.alert([{ channelType: 'webhook', config: { url: hanging.url('/') } }]);
    expect(await notifying.admin.post(testPath(alertId), {})).toBeError(502, 'UPSTREAM_UNREACHABLE');
    const reader = await notifying.member([{ subject: 'pki-alerts', action: 'read' }]);
    expect(await reader.post(testPath(alertId), {})).toBeError(403, 'PERMISSION_DENIED');
    const editor = await notifying.member([{ subject: 'pki-alerts', action: 'edit' }]);
    expect(await editor.post(testPath(alertId), { channelId: randomUUID() })).toBeError(404, 'ALERT_CHANNEL_NOT_FOUND');
    const [row] = await notifying.sql<{ count: number }>(
      `select count(*)::integer as count from audit_record where action = 'certificate-alert:test' and outcome = 'allowed'`,
    );
    expect(row?.count).toBeGreaterThan(0);
  });
});

const SHOWN = `query ($id: ID!) { certificateAlert(id: $id) { channels { ... on EmailAlertChannel { recipients userIds groupIds presentRecipients } }
  messages { nodes { recipient state errorCode } } } }`;
const shown = async (id: string) => (await notifying.admin.data(SHOWN, { id })).certificateAlert;
const word = () => randomUUID().slice(0, 8);

async function makeUser(username = `${word()}@example.com`): Promise<{ id: string; username: string }> {
  const document = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username } } }';
  return (await notifying.admin.data(document, { input: { username } })).createUser.user;
}
const memberships = () => `/api/v1/projects/${notifying.projectId}/memberships`;
const join = async (userId: string) =>
  mustSucceed(await notifying.admin.post(memberships(), { userId, role: 'viewer' }));

describe('a channel with users and groups', () => {
  test('mails those who are members when it is sent, each once', async () => {
    const [user, inGroup, robot] = [await makeUser(), await makeUser(), await makeUser(`robot-${word()}`)];
    await join(user.id);
    await join(robot.id);
    const group = mustSucceed(await notifying.admin.post('/api/v1/groups', { name: `group-${word()}` })).body;
    mustSucceed(
      await notifying.admin.post(`/api/v2/workspace/${notifying.projectId}/groups/${group.id}`, { role: 'viewer' }),
    );
    const config = { recipients: [inGroup.username.toUpperCase()], userIds: [user.id, robot.id], groupIds: [group.id] };
    const alertId = await notifying.alert([{ channelType: 'email', config }], { filters: equals('people') });
    const [before] = (await shown(alertId)).channels;
    expect(before).toEqual({ ...config, presentRecipients: [inGroup.username.toUpperCase(), user.username] });
    const add = 'mutation ($input: AddGroupMemberInput!) { addGroupMember(input: $input) { __typename } }';
    await notifying.admin.data(add, { input: { groupId: group.id, userId: inGroup.id } });
    await notifying.certificate(5, 'people');
    const sent = (count: number) =>
      until(`${count} messages`, 30_000, async () => {
        const states = (await notifying.messages(alertId)).map(({ state }) => state);
        return states.length === count && states.every((state) => state === 'sent');
      });
    await sent(2);
    expect(
      (await shown(alertId)).messages.nodes.map(({ recipient }: { recipient: string }) => recipient).sort(),
    ).toEqual([inGroup.username.toUpperCase(), user.username].sort());
    expect(notifying.mail.mailsTo(user.username)).toHaveLength(1);
    // Who has left gets nothing, and is in the history no more.
    mustSucceed(await notifying.admin.delete(`${memberships()}/${user.id}`));
    await notifying.certificate(6, 'people');
    await sent(3);
    expect(notifying.mail.mailsTo(user.username)).toHaveLength(1);
    expect((await shown(alertId)).channels[0].presentRecipients).toEqual([inGroup.username.toUpperCase()]);
  });

  test('of nobody mails nobody, and shows it', async () => {
    const group = mustSucceed(await notifying.admin.post('/api/v1/groups', { name: `group-${word()}` })).body;
    mustSucceed(
      await notifying.admin.post(`/api/v2/workspace/${notifying.projectId}/groups/${group.id}`, { role: 'viewer' }),
    );
    const channels = [{ channelType: 'email', config: { groupIds: [group.id] } }];
    const alertId = await notifying.alert(channels, { filters: equals('nobody') });
    await notifying.certificate(5, 'nobody');
    await notifying.imported();
    expect(await shown(alertId)).toEqual({
      channels: [{ recipients: [], userIds: [], groupIds: [group.id], presentRecipients: [] }],
      messages: { nodes: [] },
    });
  });

  test('mails nobody at a domain that the organization does not allow, and shows why', async () => {
    const { admin } = notifying;
    const { organization } = await admin.data('{ organization { id } }');
    const update = 'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { __typename } }';
    const allow = (...allowedEmailDomains: string[]) =>
      admin.data(update, { input: { id: organization.id, allowedEmailDomains } });
    const [user, colleague] = [await makeUser(), await makeUser(`${word()}@allowed.example`)];
    for (const { id } of [user, colleague]) await join(id);
    const given = `given-${word()}@example.com`;
    const config = { recipients: [given], userIds: [user.id, colleague.id] };
    const alertId = await notifying.alert([{ channelType: 'email', config }], { filters: equals('domains') });
    const states = async () => (await notifying.messages(alertId)).map(({ state, error_code: code }) => [state, code]);
    const settled = (count: number) =>
      until(`${count} messages`, 30_000, async () => {
        await notifying.hurry();
        const found = await states();
        return found.length === count && found.every(([state]) => state !== 'pending');
      });
    // They wait when the setting changes: neither who was given nor who was looked up gets a mail.
    const bringBack = await notifying.withoutMail();
    await notifying.certificate(5, 'domains');
    await until('three messages', 30_000, async () => (await states()).length === 3);
    await allow('allowed.example');
    await bringBack();
    await settled(3);
    const refused = ['failed', 'RECIPIENT_NOT_ALLOWED'];
    expect((await states()).sort()).toEqual([refused, refused, ['sent', null]]);
    expect(notifying.mail.mailsTo(colleague.username)).toHaveLength(1);
    expect([given, user.username].flatMap((address) => notifying.mail.mailsTo(address))).toEqual([]);
    const { channels, messages } = await shown(alertId);
    expect(channels[0].presentRecipients).toEqual([colleague.username]);
    expect(messages.nodes.filter(({ state }: { state: string }) => state === 'FAILED')).toEqual(
      expect.arrayContaining(
        [given, user.username].map((recipient) => ({ recipient, state: 'FAILED', errorCode: 'RECIPIENT_NOT_ALLOWED' })),
      ),
    );
    // To who is looked up nothing is written any more, and a test is no way around.
    await notifying.certificate(6, 'domains');
    await settled(5);
    expect((await states()).slice(3).sort()).toEqual([refused, ['sent', null]]);
    const test = `mutation ($input: TestCertificateAlertInput!) { testCertificateAlert(input: $input) { results { recipient isAccepted errorCode } } }`;
    const { results } = (await admin.data(test, { input: { id: alertId } })).testCertificateAlert;
    expect(results).toEqual([
      { recipient: given, isAccepted: false, errorCode: 'RECIPIENT_NOT_ALLOWED' },
      { recipient: colleague.username, isAccepted: true, errorCode: null },
    ]);
    expect(notifying.mail.mailsTo(given)).toEqual([]);
    await allow();
    const [failed] = await notifying.sql<{ id: string }>(
      `select id from notification_message where owner_id = $1 and state = 'failed' order by created_at desc limit 1`,
      [alertId],
    );
    mustSucceed(await admin.post(`${ALERTS}/${alertId}/messages/${failed?.id}/retry`, {}));
    await settled(5);
    expect(notifying.mail.mailsTo(given)).toHaveLength(1);
  });

  test('is refused with the place of each who is no member of the project', async () => {
    const stranger = await makeUser();
    const config = { userIds: [stranger.id], groupIds: [randomUUID()] };
    const body = { name: 'x', eventType: 'expiration', alertBefore: '1d', filters: [], projectId: notifying.projectId };
    const send = (given: object) =>
      notifying.admin.post(ALERTS, { ...body, channels: [{ channelType: 'email', config: given }] });
    const refused = await send(config);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toEqual(['body.channels[0].config INVALID', 'body.channels[0].config INVALID']);
    expect(refused.body.details.map(({ message }: { message: string }) => message)).toEqual([
      'userIds[0] must be a member of the project',
      'groupIds[0] must be a member of the project',
    ]);
    expect(violationsOf(await send({}))).toEqual(['body.channels[0].config.recipients MISSING']);
    expect(violationsOf(await send({ userIds: ['x', 'X'] }))).toEqual([
      'body.channels[0].config.userIds[0] INVALID_FORMAT',
      'body.channels[0].config.userIds[1] DUPLICATE',
      'body.channels[0].config.userIds[1] INVALID_FORMAT',
    ]);
  });
});
