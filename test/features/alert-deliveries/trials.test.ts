import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';

const ALERTS = '/api/v1/cert-manager/alerts';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());

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

  test('that hangs ends, and takes the right to edit', async () => {
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
