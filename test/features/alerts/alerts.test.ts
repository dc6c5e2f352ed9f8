import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { ALERT, ALERTS, EMAIL, makeAlert, PAGERDUTY, SLACK, seedProject, shown, WEBHOOK } from './kit.js';

const strongroom = useSharedStrongroom();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe('creating a certificate alert', () => {
  test('answers it as the interface has it, with an empty config for each channel', async () => {
    const { admin, project } = await seedProject(strongroom);
    const body = { ...ALERT, description: 'A month before', channels: [EMAIL, { ...SLACK, enabled: false }] };
    const reply = mustSucceed(await admin.post(ALERTS, { ...body, projectId: project.id }));
    const channel = { id: expect.any(String), config: {}, createdAt: TIME, updatedAt: TIME };
    expect(reply.body).toEqual({
      alert: {
        id: expect.any(String),
        name: ALERT.name,
        description: 'A month before',
        eventType: 'expiration',
        alertBefore: '30d',
        filters: ALERT.filters,
        enabled: true,
        projectId: project.id,
        channels: [
          { ...channel, channelType: 'email', enabled: true },
          { ...channel, channelType: 'slack', enabled: false },
        ],
        createdAt: TIME,
        updatedAt: TIME,
      },
    });
    const { alert } = mustSucceed(await admin.get(`${ALERTS}/${reply.body.alert.id}`)).body;
    expect(alert).toEqual(reply.body.alert);
  });

  test('takes any name, no description, no filters, an id of a channel that means nothing, and the same name twice', async () => {
    const { admin, project } = await seedProject(strongroom);
    const id = randomUUID();
    const given = { name: '  Zertifikate, ä\t"1" ', filters: [], enabled: false, channels: [{ ...EMAIL, id }] };
    const alert = await makeAlert(admin, project.id, given);
    expect(alert).toMatchObject({ name: given.name, description: null, filters: [], enabled: false });
    expect(alert.channels[0].id).not.toBe(id);
    expect((await makeAlert(admin, project.id, given)).id).not.toBe(alert.id);
    expect((await makeAlert(admin, project.id, { name: 'x'.repeat(255) })).name).toHaveLength(255);
  });

  test.each(['expiration', 'renewal', 'issuance', 'revocation'])('of %s keeps its time before', async (eventType) => {
    const { admin, project } = await seedProject(strongroom);
    const alert = await makeAlert(admin, project.id, { eventType, alertBefore: '9999y' });
    expect(alert).toMatchObject({ eventType, alertBefore: '9999y' });
  });

  test('shows of configs in GraphQL what is no secret', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id, { channels: [EMAIL, WEBHOOK, SLACK, PAGERDUTY] });
    const { channels } = await shown(admin, id);
    expect(channels).toMatchObject([
      { __typename: 'EmailAlertChannel', channelType: 'EMAIL', recipients: EMAIL.config.recipients },
      {
        __typename: 'WebhookAlertChannel',
        url: 'https://hooks.example.com/certificates?team=shop',
        hasSigningSecret: true,
      },
      { __typename: 'SlackAlertChannel', channelType: 'SLACK' },
      { __typename: 'PagerDutyAlertChannel', channelType: 'PAGERDUTY' },
    ]);
    expect(JSON.stringify(channels)).not.toMatch(/word|a signing secret|XyZ|0123456789/);
  });

  test('is refused in a project of another type, and unknown in one that is not there', async () => {
    const { admin, project } = await strongroom.seed.project();
    const refused = await admin.post(ALERTS, { ...ALERT, projectId: project.id });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details).toMatchObject([{ path: 'body.projectId', code: 'WRONG_PROJECT_TYPE' }]);
    for (const projectId of [randomUUID(), 'nope', (await seedProject(strongroom)).project.id])
      expect(await admin.post(ALERTS, { ...ALERT, projectId })).toBeError(404, 'PROJECT_NOT_FOUND');
  });
});

describe('reading and deleting certificate alerts', () => {
  test('knows neither those of strangers nor those that are gone', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { admin: stranger } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id);
    const unknown = [`${ALERTS}/${randomUUID()}`, `${ALERTS}/nope`];
    for (const path of [`${ALERTS}/${id}`, ...unknown]) {
      expect(await stranger.get(path)).toBeError(404, 'CERTIFICATE_ALERT_NOT_FOUND');
      expect(await stranger.patch(path, { name: 'x' })).toBeError(404, 'CERTIFICATE_ALERT_NOT_FOUND');
      expect(await stranger.delete(path)).toBeError(404, 'CERTIFICATE_ALERT_NOT_FOUND');
    }
    const { alert } = mustSucceed(await admin.delete(`${ALERTS}/${id}`)).body;
    expect(alert).toMatchObject({ id, channels: [{ channelType: 'email', config: {} }] });
    expect(await admin.get(`${ALERTS}/${id}`)).toBeError(404, 'CERTIFICATE_ALERT_NOT_FOUND');
    expect(await strongroom.sql('select from certificate_alert_channel where alert_id = $1', [id])).toEqual([]);
  });

  test('needs the right to each of them, which viewers and members of a project lack', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id);
    const ask = (caller: typeof admin) => ({
      read: () => caller.get(`${ALERTS}/${id}`),
      list: () => caller.get(`${ALERTS}?projectId=${project.id}`),
      create: () => caller.post(ALERTS, { ...ALERT, projectId: project.id }),
      edit: () => caller.patch(`${ALERTS}/${id}`, { enabled: false }),
      delete: () => caller.delete(`${ALERTS}/${id}`),
    });
    for (const role of ['viewer', 'member', 'no-access']) {
      const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [role] });
      for (const send of Object.values(ask(caller))) expect(await send()).toBeError(403, 'PERMISSION_DENIED');
    }
    for (const action of ['read', 'create', 'edit', 'delete'] as const) {
      const { caller } = await callerWithRules(strongroom, admin, project.id, { subject: 'pki-alerts', action });
      for (const [name, send] of Object.entries(ask(caller))) {
        const isAllowed = name === action || (name === 'list' && action === 'read');
        expect([action, name, (await send()).status]).toEqual([action, name, isAllowed ? 200 : 403]);
      }
    }
  });

  test('goes with the project', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id);
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    expect(await admin.get(`${ALERTS}/${id}`)).toBeError(404, 'CERTIFICATE_ALERT_NOT_FOUND');
    expect(await strongroom.sql('select from certificate_alert where id = $1', [id])).toEqual([]);
  });
});

describe('what of configs is stored', () => {
  test('is sealed for its channel and its version: no other one, and none of before, is read in its place', async () => {
    const { admin, project } = await seedProject(strongroom);
    const other = { ...EMAIL, config: { recipients: ['eve@example.com'] } };
    const { id, channels } = await makeAlert(admin, project.id, { channels: [EMAIL, other] });
    const configs = () =>
      strongroom.sql<{ id: string; config_sealed: Buffer }>(
        'select id, config_sealed from certificate_alert_channel where alert_id = $1 order by position',
        [id],
      );
    const before = await configs();
    expect(before.some(({ config_sealed: sealed }) => sealed.includes('example.com'))).toBe(false);
    mustSucceed(
      await admin.patch(`${ALERTS}/${id}`, {
        channels: [
          { ...EMAIL, id: channels[0].id },
          { ...other, id: channels[1].id },
        ],
      }),
    );
    const put = (channel: string, sealed: Buffer | undefined) =>
      strongroom.sql('update certificate_alert_channel set config_sealed = $2 where id = $1', [channel, sealed]);
    for (const sealed of [before[0]?.config_sealed, (await configs())[1]?.config_sealed]) {
      await put(channels[0].id, sealed);
      const document = `query ($id: ID!) { certificateAlert(id: $id) { name channels { id ... on EmailAlertChannel { recipients } } } }`;
      const { data, errors } = (await admin.graphql(document, { id })).body;
      expect(data.certificateAlert.channels).toMatchObject([{ recipients: null }, { recipients: ['eve@example.com'] }]);
      expect(errors).toMatchObject([{ extensions: { code: 'SEALED_VALUE_INVALID' } }]);
      mustSucceed(await admin.get(`${ALERTS}/${id}`));
    }
    await strongroom.sql(`update certificate_alert_channel set channel_type = 'webhook' where id = $1`, [
      channels[1].id,
    ]);
    const document = `query ($id: ID!) { certificateAlert(id: $id) { channels { ... on WebhookAlertChannel { url } } } }`;
    expect((await admin.graphql(document, { id })).body.errors[0].extensions.code).toBe('SEALED_VALUE_INVALID');
  });

  test('is neither in the audit trail nor in an error, and each change says which fields it changed', async () => {
    const { admin, project } = await seedProject(strongroom);
    const channels = [EMAIL, WEBHOOK, SLACK, PAGERDUTY];
    const { id } = await makeAlert(admin, project.id, { channels });
    mustSucceed(await admin.patch(`${ALERTS}/${id}`, { channels, name: 'Other', filters: ALERT.filters }));
    const refused = await admin.patch(`${ALERTS}/${id}`, {
      channels: channels.map((channel) => ({ ...channel, channelType: 'slack' })),
    });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    mustSucceed(await admin.get(`${ALERTS}/${id}`));
    mustSucceed(await admin.get(`${ALERTS}?projectId=${project.id}`));
    await admin.data('query ($id: ID!) { project(id: $id) { certificateAlerts { nodes { id } } } }', {
      id: project.id,
    });
    mustSucceed(await admin.delete(`${ALERTS}/${id}`));
    const rows = await strongroom.auditRows('project_id = $1', [project.id]);
    const text = JSON.stringify(rows) + refused.text;
    expect(text).not.toMatch(/example\.com|a signing secret|XyZ|ABCDEF/);
    expect(rows.filter(({ action }) => action.startsWith('certificate-alert'))).toMatchObject([
      { action: 'certificate-alert:create', facts: { alertId: id, version: 1 } },
      { action: 'certificate-alert:update', facts: { alertId: id, version: 2, changed: ['channels', 'name'] } },
      { action: 'certificate-alert:get', facts: { alertId: id } },
      { action: 'certificate-alert:list', facts: { count: 1 } },
      { action: 'certificate-alert:list', facts: { count: 1 } },
      { action: 'certificate-alert:delete', facts: { alertId: id, version: 2 } },
    ]);
  });
});
