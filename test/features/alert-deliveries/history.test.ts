import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { makeAlert, seedProject } from '../alerts/kit.js';

const WAIT_MS = 30_000;
const ALERTS = '/api/v1/cert-manager/alerts';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());

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
      messages { id } messageConnection(first: 1, state: SENT) { nodes { id } pageInfo { hasNextPage } } } }`;
    const { certificateAlert } = await notifying.admin.data(document, { id: alertId });
    expect(certificateAlert.lastMessage).toMatchObject({
      state: 'SENT',
      recipient: 'nested@example.com',
      certificates: [{ commonName: 'nested.example.com' }],
      alert: { id: alertId },
    });
    expect(certificateAlert.messages).toEqual([{ id: certificateAlert.lastMessage.id }]);
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

describe('messages of many alerts', () => {
  const strongroom = useSharedStrongroom();

  test('take the same statements as those of one', async () => {
    const document = `query ($id: ID!) { project(id: $id) { certificateAlerts {
      lastMessage { recipient } messages(first: 5) { id recipient channel { id } certificates { id } alert { id } } } } }`;
    const counts: number[] = [];
    for (const size of [1, 6]) {
      const { admin, project } = await seedProject(strongroom);
      for (let made = 0; made < size; made += 1)
        await strongroom.seed.failedMessage((await makeAlert(admin, project.id)).id);
      await admin.data(document, { id: project.id });
      const { result, count } = await strongroom.statements(() => admin.data(document, { id: project.id }));
      expect(result.project.certificateAlerts).toHaveLength(size);
      for (const alert of result.project.certificateAlerts) expect(alert.messages).toHaveLength(1);
      counts.push(count);
    }
    expect(counts[1]).toBe(counts[0]);
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
