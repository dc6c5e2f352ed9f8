import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { ALERT, ALERTS, EMAIL, makeAlert, PAGERDUTY, SLACK, seedProject, shown, violationsOf, WEBHOOK } from './kit.js';

const strongroom = useSharedStrongroom();

async function seedAlert(channels: readonly object[]) {
  const { admin, project } = await seedProject(strongroom);
  const alert = await makeAlert(admin, project.id, { description: 'what for', channels });
  const patch = (body: object, headers = {}) => admin.patch(`${ALERTS}/${alert.id}`, body, headers);
  return { admin, project, alert, patch };
}

/** Sealed configs of an alert, by channel. */
const sealedOf = async (alertId: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await strongroom.sql<{ id: string; config: string }>(
    `select id, encode(config_sealed, 'hex') as config from certificate_alert_channel where alert_id = $1`,
    [alertId],
  );
  return new Map(rows.map(({ id, config }) => [id, config]));
};

const UPDATE = `mutation ($input: UpdateCertificateAlertInput!) { updateCertificateAlert(input: $input) {
  certificateAlert { version channels { id channelType isEnabled } } } }`;

describe('changing a certificate alert', () => {
  test('changes what is given, and keeps the rest', async () => {
    const { patch, alert, admin } = await seedAlert([EMAIL]);
    const changes = [
      { name: 'Other' },
      { description: '' },
      { eventType: 'revocation' },
      { alertBefore: '1y' },
      { filters: [] },
      { enabled: false },
    ];
    let expected = alert;
    for (const change of changes) {
      expected = { ...expected, ...change };
      const { updatedAt, ...changed } = mustSucceed(await patch(change)).body.alert;
      const { updatedAt: _, ...rest } = expected;
      expect(changed).toEqual(rest);
      expect(updatedAt >= alert.updatedAt).toBe(true);
    }
    expect((await shown(admin, alert.id)).version).toBe(1 + changes.length);
  });

  test('makes no new version where nothing is other than before', async () => {
    const { patch, alert, admin } = await seedAlert([EMAIL, SLACK]);
    const channels = alert.channels.map(({ id, channelType }: typeof EMAIL & { id: string }) => ({ id, channelType }));
    const { name, filters, enabled } = alert;
    for (const body of [{}, { name, filters, enabled, channels }])
      expect(mustSucceed(await patch(body)).body.alert).toEqual(alert);
    expect((await shown(admin, alert.id)).version).toBe(1);
  });

  test('removes the description in GraphQL by null', async () => {
    const { alert, admin } = await seedAlert([EMAIL]);
    await admin.data(UPDATE, { input: { id: alert.id, description: null } });
    expect(mustSucceed(await admin.get(`${ALERTS}/${alert.id}`)).body.alert.description).toBeNull();
  });
});

describe('channels that are given', () => {
  test('replace those of before: one named by its id stays with its config, others are new or gone', async () => {
    const { patch, alert, admin } = await seedAlert([EMAIL, WEBHOOK, { ...SLACK, enabled: false }]);
    const [email, webhook, slack] = alert.channels;
    const before = await sealedOf(alert.id);
    const { channels } = mustSucceed(
      await patch({
        channels: [
          { id: slack.id, channelType: 'slack' },
          PAGERDUTY,
          { id: email.id.toUpperCase(), channelType: 'email', config: {}, enabled: false },
        ],
      }),
    ).body.alert;
    expect(channels).toEqual([
      slack,
      { ...channels[1], channelType: 'pagerduty', enabled: true, config: {} },
      { ...email, enabled: false, updatedAt: expect.any(String) },
    ]);
    const after = await sealedOf(alert.id);
    for (const id of [slack.id, email.id]) expect(after.get(id)).toBe(before.get(id));
    expect(after.has(webhook.id)).toBe(false);
    expect((await shown(admin, alert.id)).channels[2].recipients).toEqual(EMAIL.config.recipients);
  });

  test('can be sent back as they were shown, with times that mean nothing', async () => {
    const { patch, alert, admin } = await seedAlert([EMAIL, WEBHOOK, SLACK, PAGERDUTY]);
    const before = await sealedOf(alert.id);
    const reply = mustSucceed(await patch({ channels: alert.channels }));
    expect(reply.body.alert).toEqual(alert);
    expect(await sealedOf(alert.id)).toEqual(before);
    expect((await shown(admin, alert.id)).channels[1]).toMatchObject({ hasSigningSecret: true });
  });

  test('keep the signing secret of a webhook where none is given, change it, and remove it by null', async () => {
    const { patch, alert, admin } = await seedAlert([WEBHOOK]);
    const [{ id }] = alert.channels;
    const change = async (config: object) => {
      mustSucceed(await patch({ channels: [{ id, channelType: 'webhook', config }] }));
      return (await shown(admin, alert.id)).channels;
    };
    const url = 'https://other.example.com/x';
    expect(await change({ url })).toMatchObject([{ id, url, hasSigningSecret: true }]);
    expect(await change({ url, signingSecret: 'another' })).toMatchObject([{ id, hasSigningSecret: true }]);
    expect(await change({ url, signingSecret: null })).toMatchObject([{ id, hasSigningSecret: false }]);
    expect(await change({ url })).toMatchObject([{ id, hasSigningSecret: false }]);
  });

  test('give a known channel another type with a config, and never the secret of the old one', async () => {
    const { patch, alert, admin } = await seedAlert([WEBHOOK, EMAIL]);
    const [{ id }, email] = alert.channels;
    const kept = { id: email.id, channelType: 'email' };
    const refused = await patch({
      channels: [
        { id, channelType: 'slack' },
        { id: email.id, channelType: 'pagerduty', config: {} },
      ],
    });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toEqual(['body.channels[0].config MISSING', 'body.channels[1].config MISSING']);
    mustSucceed(await patch({ channels: [{ ...SLACK, id }, kept] }));
    expect((await shown(admin, alert.id)).channels).toMatchObject([{ id, channelType: 'SLACK' }, { id: email.id }]);
    mustSucceed(await patch({ channels: [{ ...WEBHOOK, id, config: { url: 'https://a.de/' } }, kept] }));
    expect((await shown(admin, alert.id)).channels[0]).toMatchObject({ id, hasSigningSecret: false });
  });

  test('are refused where an id is of no channel, of one of another alert, or named twice; and nothing changes', async () => {
    const { patch, alert, admin, project } = await seedAlert([EMAIL]);
    const other = await makeAlert(admin, project.id, {});
    const { alert: foreign } = await seedAlert([EMAIL]);
    const [{ id }] = alert.channels;
    const ids = [randomUUID(), other.channels[0].id, foreign.channels[0].id, alert.id];
    const refused = await patch({
      name: 'Other',
      channels: [{ ...EMAIL, id }, ...ids.map((each) => ({ ...EMAIL, id: each }))],
    });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toEqual([1, 2, 3, 4].map((at) => `body.channels[${at}].id INVALID`));
    const twice = await patch({ channels: [{ ...EMAIL, id }, EMAIL, { ...SLACK, id: id.toUpperCase() }] });
    expect(violationsOf(twice)).toEqual(['body.channels[2].id DUPLICATE']);
    expect(mustSucceed(await admin.get(`${ALERTS}/${alert.id}`)).body.alert).toEqual(alert);
    for (const one of [other, foreign]) expect((await sealedOf(one.id)).size).toBe(1);
  });

  test('are changed in GraphQL as in REST, with paths of its own', async () => {
    const { alert, admin } = await seedAlert([EMAIL, WEBHOOK]);
    const [email, webhook] = alert.channels;
    const send = (channels: readonly object[]) => admin.graphql(UPDATE, { input: { id: alert.id, channels } });
    const reply = mustSucceed(
      await send([
        { id: webhook.id, channelType: 'WEBHOOK', isEnabled: false },
        { id: email.id, channelType: 'EMAIL', config: { email: { recipients: ['eve@example.com'] } } },
        { channelType: 'PAGERDUTY', config: { pagerduty: PAGERDUTY.config } },
      ]),
    );
    expect(reply.body.data.updateCertificateAlert.certificateAlert).toMatchObject({
      version: 2,
      channels: [
        { id: webhook.id, isEnabled: false },
        { id: email.id, isEnabled: true },
        { channelType: 'PAGERDUTY', isEnabled: true },
      ],
    });
    expect((await shown(admin, alert.id)).channels[1].recipients).toEqual(['eve@example.com']);
    const refused = await send([
      { id: randomUUID(), channelType: 'EMAIL' },
      { id: email.id, channelType: 'SLACK' },
    ]);
    expect(violationsOf(refused)).toEqual(['input.channels[0].id INVALID', 'input.channels[1].config MISSING']);
    const nameless = await send([{ channelType: 'EMAIL' }, { id: 'nope', channelType: 'EMAIL' }]);
    expect(violationsOf(nameless)).toEqual(['input.channels[0].config MISSING', 'input.channels[1].id INVALID_FORMAT']);
  });
});

describe('changes at the same time', () => {
  test('with a version that is not the present one change nothing', async () => {
    const { alert, admin, patch } = await seedAlert([EMAIL]);
    const send = (expectedVersion: number, name: string) =>
      admin.graphql(UPDATE, { input: { id: alert.id, expectedVersion, name } });
    mustSucceed(await send(1, 'first'));
    expect(await send(1, 'second')).toBeError(409, 'CONCURRENT_CHANGE');
    const { etag } = mustSucceed(await admin.get(`${ALERTS}/${alert.id}`)).headers;
    mustSucceed(await patch({ name: 'third' }, { 'if-match': etag }));
    expect(await patch({ name: 'fourth' }, { 'if-match': etag })).toBeError(412, 'PRECONDITION_FAILED');
    expect(mustSucceed(await admin.get(`${ALERTS}/${alert.id}`)).body.alert.name).toBe('third');
  });

  test('have one winner of a hundred for each version, whose channels are stored', async () => {
    const { alert, admin } = await seedAlert([EMAIL]);
    for (const expectedVersion of [1, 2]) {
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          admin.patient.graphql(UPDATE, {
            input: {
              id: alert.id,
              expectedVersion,
              name: `name ${at}`,
              channels: [{ channelType: 'EMAIL', config: { email: { recipients: [`p${at}@example.com`] } } }],
            },
          }),
        ),
      );
      const won = replies.flatMap(({ body }, at) => (body.errors === undefined ? [at] : []));
      expect(won).toHaveLength(1);
      for (const [at, reply] of replies.entries())
        if (!won.includes(at)) expect(reply).toBeError(409, 'CONCURRENT_CHANGE');
      const { version, channels } = await shown(admin, alert.id);
      expect({ version, channels }).toMatchObject({
        version: expectedVersion + 1,
        channels: [{ recipients: [`p${won[0]}@example.com`] }],
      });
    }
  });

  test('without a version all take effect one after the other', async () => {
    const { alert, admin } = await seedAlert([EMAIL]);
    const patch = (body: object) => admin.patient.patch(`${ALERTS}/${alert.id}`, body);
    const names = Array.from({ length: 20 }, (_, at) => `name ${at}`);
    for (const reply of await Promise.all(names.map((name) => patch({ name, channels: [SLACK, EMAIL] }))))
      mustSucceed(reply);
    const { version, channels } = await shown(admin, alert.id);
    expect([version, channels.length]).toEqual([21, 2]);
  });

  test('with a deletion leave nothing behind', async () => {
    const send = async (admin: Caller, id: string) =>
      Promise.all([
        admin.patch(`${ALERTS}/${id}`, { channels: [SLACK, PAGERDUTY], name: 'x' }),
        admin.delete(`${ALERTS}/${id}`),
        admin.patch(`${ALERTS}/${id}`, ALERT),
      ]);
    const { admin, project } = await seedProject(strongroom);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await makeAlert(admin, project.id);
      const [first, deleted, last] = await send(admin, id);
      expect(deleted.status).toBe(200);
      for (const { status } of [first, last]) expect([200, 404]).toContain(status);
      expect((await sealedOf(id)).size).toBe(0);
    }
  });
});
