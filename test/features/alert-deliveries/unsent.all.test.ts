import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 50_000;
const ALERTS = '/api/v1/cert-manager/alerts';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());
afterEach(() => notifying.sql('delete from certificate_alert; delete from certificate'));

const mail = (...recipients: string[]) => ({ channelType: 'email', config: { recipients } });
/** A certificate that alerts have looked at: a look that comes late would send again what has failed meanwhile. */
const certificate = async (lastsDays: number, commonName: string): Promise<string> => {
  const id = await notifying.certificate(lastsDays, commonName);
  await notifying.imported();
  return id;
};
const about = (name: string) => ({ filters: [{ field: 'common_name', operator: 'equals', value: name }] });
const states = async (alertId: string) => (await notifying.messages(alertId)).map(({ state }) => state).join();
const becomes = (alertId: string, wanted: string) =>
  until(`messages that are ${wanted}`, WAIT_MS, async () => (await states(alertId)) === wanted);
/** Without the pauses after failures. */
const becomesSoon = (alertId: string, wanted: string) =>
  until(`messages that are ${wanted} soon`, WAIT_MS, async () => {
    if ((await states(alertId)) === wanted) return true;
    await notifying.hurry();
    return false;
  });
const setEnabled = async (alertId: string, enabled: boolean) =>
  mustSucceed(await notifying.admin.patch(`${ALERTS}/${alertId}`, { enabled }));
const lastRun = async (alertId: string) => {
  const document =
    'query ($id: ID!) { certificateAlert(id: $id) { lastRun { status errorCode messageCount sentCount } } }';
  return (await notifying.admin.data(document, { id: alertId })).certificateAlert.lastRun;
};
const outcome = async (certificateId: string) => {
  const document =
    'query ($id: ID!) { alertDecisions(certificateId: $id) { nodes { outcome messages { state errorCode } } } }';
  return (await notifying.admin.data(document, { id: certificateId })).alertDecisions.nodes[0];
};

/** Has every alert look, as at midnight, until all have. */
const lookNow = () => notifying.runToEnd('certificate-alerts:find-due', { queued: ['certificate-alerts:check'] });

/** Nothing is sent after it was accepted, however often alerts look. */
async function sendsNothingMore(recipient: string): Promise<void> {
  const before = notifying.mail.mailsTo(recipient).length;
  for (let time = 0; time < 3; time += 1) await lookNow();
  await notifying.hurry();
  await until('nothing to be sent', WAIT_MS, async () => {
    const open = await notifying.sql(
      `select from job where kind = 'certificate-alerts:send' and (state = 'running' or wake_at <= now())`,
    );
    return open.length === 0;
  });
  expect(notifying.mail.mailsTo(recipient)).toHaveLength(before);
}

describe('a message that was not accepted', () => {
  test('is cancelled where its alert is disabled, and sent once where the alert is enabled again', async () => {
    const back = await notifying.withoutMail();
    const id = await certificate(9, 'off.example.com');
    const alertId = await notifying.alert([mail('off@example.com')], about('off.example.com'));
    await until('an attempt', WAIT_MS, async () => ((await notifying.messages(alertId))[0]?.attempts ?? 0) > 0);
    expect(await lastRun(alertId)).toMatchObject({ status: 'PENDING', messageCount: 1, sentCount: 0 });
    await setEnabled(alertId, false);
    await becomes(alertId, 'cancelled');
    expect(await lastRun(alertId)).toMatchObject({ status: 'FAILED', errorCode: 'CHANNEL_DISABLED', sentCount: 0 });
    expect(await outcome(id)).toMatchObject({ outcome: 'FAILED' });
    await back();
    await setEnabled(alertId, true);
    await becomesSoon(alertId, 'sent');
    expect(await lastRun(alertId)).toEqual({ status: 'SUCCESS', errorCode: null, messageCount: 1, sentCount: 1 });
    expect(await outcome(id)).toMatchObject({ outcome: 'NOTIFIED' });
    expect(notifying.mail.mailsTo('off@example.com')).toHaveLength(1);
    for (const enabled of [false, true]) await setEnabled(alertId, enabled);
    await sendsNothingMore('off@example.com');
  });

  test.each([
    ['was refused for good', 550],
    ['was refused for longer than three days', 451],
  ])(
    'because it %s is sent by the next check, with those of its certificates that are not replaced',
    async (_, code) => {
      const name = `refused${code}.example.com`;
      await certificate(9, name);
      const replaced = await certificate(8, name);
      notifying.mail.refusals = { to: code };
      const alertId = await notifying.alert([mail(`to${code}@example.com`)], about(name));
      await until('an attempt', WAIT_MS, async () => ((await notifying.messages(alertId))[0]?.attempts ?? 0) > 0);
      await notifying.sql('update notification_message set give_up_at = now() where owner_id = $1', [alertId]);
      await becomesSoon(alertId, 'failed');
      expect(await lastRun(alertId)).toMatchObject({ status: 'FAILED', errorCode: 'TARGET_REJECTED' });
      // Still refused: one attempt for each check.
      await lookNow();
      await until(
        'another attempt',
        WAIT_MS,
        async () => ((await notifying.messages(alertId))[0]?.attempts ?? 0) === 1,
      );
      notifying.mail.refusals = {};
      await notifying.revoke(replaced);
      await lookNow();
      await becomesSoon(alertId, 'sent');
      const [received, ...others] = notifying.mail.mailsTo(`to${code}@example.com`);
      expect(others).toEqual([]);
      expect(received?.mail.text).toContain(name);
      expect(received?.mail.subject ?? received?.mail.text).not.toContain('2 certificates');
      await sendsNothingMore(`to${code}@example.com`);
    },
  );

  test('about an event is sent by the next check, for a week', async () => {
    const channels = [mail('event@example.com')];
    const alertId = await notifying.alert(channels, { eventType: 'revocation', ...about('event.example.com') });
    const ids = [await certificate(9, 'event.example.com'), await certificate(9, 'event.example.com')];
    notifying.mail.refusals = { data: 550 };
    for (const id of ids) await notifying.revoke(id);
    await becomes(alertId, 'failed,failed');
    await notifying.sql(
      `update notification_message m set created_at = now() - interval '8 days' from notification_delivery d
       where d.message_id = m.id and d.subject_id = $1`,
      [ids[0]],
    );
    notifying.mail.refusals = {};
    await lookNow();
    await becomesSoon(alertId, 'failed,sent');
    expect(notifying.mail.mailsTo('event@example.com')).toHaveLength(1);
    await sendsNothingMore('event@example.com');
  });
});

describe('while the key of a project is disabled', () => {
  test('messages wait, and follow when it is enabled, to whoever the channel names then', async () => {
    const { admin } = notifying;
    const KEYS = '/api/v1/organization/keys';
    const key = mustSucceed(await admin.post(KEYS, { name: randomUUID() })).body.organizationKey.id;
    const body = { organizationKeyId: key };
    mustSucceed(await admin.patch(`/api/v1/projects/${notifying.projectId}/key`, body));
    const recipients = ['key-one@example.com', 'key-two@example.com'];
    const channels = [mail(...recipients)];
    const event = await notifying.alert(channels, { eventType: 'revocation', ...about('key.example.com') });
    const expiry = await notifying.alert(channels, { name: 'expiry', ...about('other-key.example.com') });
    const id = await certificate(9, 'key.example.com');
    const other = await certificate(90, 'other-key.example.com');
    mustSucceed(await admin.post(`${KEYS}/${key}/disable`, {}));
    await notifying.revoke(id);
    await notifying.sql(`update certificate set not_after = now() + interval '9 days' where id = $1`, [other]);
    await lookNow();
    const waiting = { outcome: 'PENDING', messages: [{ state: 'PENDING', errorCode: 'KEY_DISABLED' }] };
    for (const certificateId of [id, other])
      await until('an attempt', WAIT_MS, async () => {
        const decision = (
          await admin.data(
            `query ($id: ID!) { alertDecisions(certificateId: $id) { nodes { outcome alert { id } messages { state errorCode } } } }`,
            { id: certificateId },
          )
        ).alertDecisions.nodes.find(
          ({ alert }: { alert: { id: string } }) => alert.id === (certificateId === id ? event : expiry),
        );
        return JSON.stringify(decision.messages) === JSON.stringify(waiting.messages) && decision.outcome === 'PENDING';
      });
    expect(await lastRun(event)).toMatchObject({ status: 'PENDING', errorCode: 'KEY_DISABLED' });
    // Nothing is given up meanwhile.
    await notifying.sql('update notification_message set give_up_at = now() where next_at is not null');
    await notifying.hurry();
    await until('a later end', WAIT_MS, async () => {
      const [row] = await notifying.sql<{ kept: boolean }>(
        `select bool_and(give_up_at > now() + interval '2 days') as kept from notification_message where next_at is not null`,
      );
      return row?.kept === true;
    });
    mustSucceed(await admin.post(`${KEYS}/${key}/enable`, {}));
    for (const alertId of [event, expiry]) await becomesSoon(alertId, 'sent,sent');
    for (const recipient of recipients) expect(notifying.mail.mailsTo(recipient)).toHaveLength(2);
    for (const recipient of recipients) await sendsNothingMore(recipient);
  });
});

describe('retrying many messages', () => {
  const RETRY = `${ALERTS}/retry-messages`;

  test('takes those of a project, an alert, a channel or a time, counts them, and is for who may edit alerts', async () => {
    const { admin, projectId } = notifying;
    notifying.mail.refusals = { to: 550 };
    await certificate(9, 'many.example.com');
    const first = await notifying.alert(
      [mail('many-one@example.com', 'many-two@example.com')],
      about('many.example.com'),
    );
    const second = await notifying.alert([mail('many-three@example.com')], about('many.example.com'));
    await becomes(first, 'failed,failed');
    await becomes(second, 'failed');
    const retry = async (body: object) => mustSucceed(await admin.post(RETRY, { projectId, ...body })).body;
    const { channels } = (await admin.get(`${ALERTS}/${second}`)).body.alert;
    expect(await retry({ dryRun: true })).toEqual({ count: 3, hasMore: false });
    expect(await retry({ dryRun: true, alertId: first })).toEqual({ count: 2, hasMore: false });
    expect(await retry({ dryRun: true, channelId: channels[0].id })).toEqual({ count: 1, hasMore: false });
    expect(await retry({ dryRun: true, since: '2100-01-01T00:00:00Z' })).toEqual({ count: 0, hasMore: false });
    expect(await retry({ dryRun: true, alertId: second, channelId: randomUUID() })).toEqual({
      count: 0,
      hasMore: false,
    });
    expect(await retry({ dryRun: true, channelId: 'no ID' })).toEqual({ count: 0, hasMore: false });
    expect([await states(first), await states(second)]).toEqual(['failed,failed', 'failed']);
    expect(await admin.post(RETRY, { projectId, alertId: randomUUID() })).toBeError(404, 'CERTIFICATE_ALERT_NOT_FOUND');
    expect(await admin.post(RETRY, { projectId: randomUUID() })).toBeError(404, 'PROJECT_NOT_FOUND');
    const reader = await notifying.member([{ subject: 'pki-alerts', action: 'read' }]);
    expect(await reader.post(RETRY, { projectId })).toBeError(403, 'PERMISSION_DENIED');
    // A channel that is disabled would only cancel them.
    await setEnabled(second, false);
    expect(await retry({ dryRun: true })).toEqual({ count: 2, hasMore: false });
    notifying.mail.refusals = {};
    // Each message is counted by the one that retries it.
    const counts = (await Promise.all([retry({}), retry({}), retry({})])).map(({ count }) => count);
    expect(counts.toSorted()).toEqual([0, 0, 2]);
    await becomesSoon(first, 'sent,sent');
    expect(await retry({})).toEqual({ count: 0, hasMore: false });
    expect(notifying.mail.mailsTo('many-one@example.com')).toHaveLength(1);
    expect(notifying.mail.mailsTo('many-three@example.com')).toEqual([]);
    const [record] = await notifying.sql<{ facts: object }>(
      `select facts from audit_record where action = 'certificate-alert:retry-messages' and facts @> '{"dryRun": false, "count": 2}' order by sequence limit 1`,
    );
    expect(record?.facts).toEqual({ count: 2, dryRun: false });
    await setEnabled(second, true);
    await becomesSoon(second, 'sent');
    await sendsNothingMore('many-one@example.com');
  });
});

describe('messages with nothing left to notify of', () => {
  test('are not retried with many, and keep none of the others from it', async () => {
    const { admin, projectId } = notifying;
    notifying.mail.refusals = { to: 550 };
    const gone = await certificate(9, 'gone.example.com');
    const alertId = await notifying.alert([mail('gone@example.com')], about('gone.example.com'));
    await becomes(alertId, 'failed');
    mustSucceed(await admin.delete(`/api/v1/cert-manager/certificates/${gone}`));
    const retry = async () => mustSucceed(await admin.post(`${ALERTS}/retry-messages`, { projectId, alertId })).body;
    expect(await retry()).toEqual({ count: 1, hasMore: false });
    await becomesSoon(alertId, 'cancelled');
    expect(await retry()).toEqual({ count: 0, hasMore: false });
    notifying.mail.refusals = {};
  });
});

describe('the config of a channel', () => {
  test('that changes ends the pause of its messages', async () => {
    const [broken, whole] = [
      await notifying.server((_, response) => response.writeHead(503, { 'retry-after': '99999999' }).end()),
      await notifying.server(),
    ];
    await certificate(9, 'moved.example.com');
    const alertId = await notifying.alert(
      [{ channelType: 'webhook', config: { url: broken.url('/') } }],
      about('moved.example.com'),
    );
    const pause = async () => {
      const [message] = await notifying.sql<{ seconds: number }>(
        `select extract(epoch from next_at - now())::integer as seconds from notification_message where owner_id = $1 and attempts > 0`,
        [alertId],
      );
      return message?.seconds;
    };
    expect(await until('a pause', WAIT_MS, pause)).toBeGreaterThan(3_600);
    const { alert } = mustSucceed(await notifying.admin.get(`${ALERTS}/${alertId}`)).body;
    const [{ id, channelType }] = alert.channels;
    // A new name says nothing about the target.
    mustSucceed(await notifying.admin.patch(`${ALERTS}/${alertId}`, { name: 'renamed' }));
    expect(await pause()).toBeGreaterThan(3_600);
    mustSucceed(
      await notifying.admin.patch(`${ALERTS}/${alertId}`, {
        channels: [{ id, channelType, config: { url: whole.url('/') } }],
      }),
    );
    await becomes(alertId, 'sent');
    expect(whole.received).toHaveLength(1);
  });
});

describe('notifications that reach nobody', () => {
  const UNDELIVERED = `query ($id: ID!) { certificateAlert(id: $id) { undelivered { since count errorCode } } }`;
  const undelivered = async (id: string) =>
    (await notifying.admin.data(UNDELIVERED, { id })).certificateAlert.undelivered;
  const notices = async (alertId: string) =>
    notifying.sql<{ project_id: string | null; facts: { fields: object } }>(
      `select project_id, facts from notice where kind = 'delivery-failure' and subject_id = $1`,
      [alertId],
    );
  const findUndelivered = () => notifying.runToEnd('project-notices:find-undelivered');

  test('are shown, and reported to the admins of the organization once a day, until one channel delivers', async () => {
    const { admin } = notifying;
    const username = `${randomUUID()}@example.com`;
    const { createUser } = await admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
      { input: { username, roleSlug: 'admin' } },
    );
    expect(createUser.user.id).toEqual(expect.any(String));
    let status = 400;
    const servers = [
      await notifying.server((_, response) => response.writeHead(status).end()),
      await notifying.server((_, response) => response.writeHead(400).end()),
    ];
    const channels = servers.map((server) => ({ channelType: 'webhook', config: { url: server.url('/') } }));
    await certificate(9, 'nobody.example.com');
    const alertId = await notifying.alert(channels, { name: 'Reaches nobody', ...about('nobody.example.com') });
    await becomes(alertId, 'failed,failed');
    expect(await undelivered(alertId)).toEqual({
      since: expect.any(String),
      count: 2,
      errorCode: 'TARGET_REJECTED',
    });
    await findUndelivered();
    await findUndelivered();
    expect(await notices(alertId)).toMatchObject([
      {
        project_id: null,
        facts: { name: 'Reaches nobody', fields: { 'Sent by': 'Certificate alert', Error: 'TARGET_REJECTED' } },
      },
    ]);
    await until('the mail', WAIT_MS, () => notifying.mail.mailsTo(username).length === 1);
    expect(notifying.mail.mailsTo(username)[0]?.mail.text).toContain('Reaches nobody');
    // One channel delivers: the other one is its own concern.
    status = 200;
    await lookNow();
    await until('one that is accepted', WAIT_MS, async () => (await states(alertId)).includes('sent'));
    expect(await undelivered(alertId)).toBeNull();
    await notifying.sql(`update notice set occurrence = 'yesterday' where subject_id = $1`, [alertId]);
    await findUndelivered();
    expect(await notices(alertId)).toHaveLength(1);
  });
});
