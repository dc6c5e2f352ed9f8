import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { violationsOf } from '../alerts/kit.js';
import { ALERT, ALERTS, identityWithAuth, makeAlert, PAGERDUTY, SLACK, WEBHOOK } from './kit.js';

const strongroom = useSharedStrongroom();

const SHOWN = `query ($id: ID!) { identityAlert(id: $id) {
  id organizationId projectId identityId name description alertBefore hasDailyReminder isEnabled version
  identity { id alerts { id } } organization { id } project { id }
  channels { name channel { __typename id channelType isEnabled
    ... on EmailAlertChannel { recipients userIds groupIds } ... on WebhookAlertChannel { url hasSigningSecret } } }
} }`;
// biome-ignore lint/suspicious/noExplicitAny: as replies have it
const shown = async (admin: Caller, id: string): Promise<any> => (await admin.data(SHOWN, { id })).identityAlert;

const sealedOf = (alertId: string) =>
  strongroom.sql<{ id: string; config: string }>(
    `select id, encode(config_sealed, 'hex') as config from identity_alert_channel where alert_id = $1 order by position`,
    [alertId],
  );

async function seedAlert(body: Readonly<Record<string, unknown>> = {}) {
  const { admin, organization } = await strongroom.seed.organization();
  const identityId = await identityWithAuth(admin);
  const alert = await makeAlert(admin, identityId, body);
  return {
    admin,
    organization,
    identityId,
    alert,
    patch: (change: object) => admin.patch(`${ALERTS}/${alert.id}`, change),
  };
}

describe('an alert of an identity', () => {
  test('is created, read, listed and deleted, the same in REST and GraphQL, without secrets', async () => {
    const { admin, organization, identityId, alert } = await seedAlert({
      description: 'what for',
      channels: [WEBHOOK, SLACK, PAGERDUTY],
    });
    const channel = { createdAt: expect.any(String), updatedAt: expect.any(String), recipients: [] };
    expect(alert).toEqual({
      ...ALERT,
      id: expect.any(String),
      description: 'what for',
      resourceId: identityId,
      orgId: organization.id,
      projectId: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      channels: [
        { ...channel, ...WEBHOOK, id: expect.any(String), config: { url: WEBHOOK.config.url, hasSigningSecret: true } },
        { ...channel, ...SLACK, id: expect.any(String), config: { hasWebhookUrl: true } },
        { ...channel, ...PAGERDUTY, id: expect.any(String), config: { hasIntegrationKey: true } },
      ],
    });
    expect(mustSucceed(await admin.get(`${ALERTS}/${alert.id}`)).body).toEqual({ alert });
    const other = await makeAlert(admin, await identityWithAuth(admin));
    expect(mustSucceed(await admin.get(ALERTS)).body).toEqual({ alerts: [other, alert] });
    const query = `resourceType=identity.authentication&resourceId=${identityId}`;
    expect(mustSucceed(await admin.get(`${ALERTS}?${query}`)).body).toEqual({ alerts: [alert] });
    expect(await shown(admin, alert.id)).toMatchObject({
      ...{ identityId, organizationId: organization.id, projectId: null, alertBefore: '30d', version: 1 },
      identity: { id: identityId, alerts: [{ id: alert.id }] },
      organization: { id: organization.id },
      project: null,
      channels: [
        {
          name: 'Hook',
          channel: { __typename: 'WebhookAlertChannel', url: WEBHOOK.config.url, hasSigningSecret: true },
        },
        { name: 'Slack', channel: { __typename: 'SlackAlertChannel', isEnabled: true } },
        { name: 'On call', channel: { __typename: 'PagerDutyAlertChannel', isEnabled: false } },
      ],
    });
    const rows = await strongroom.sql(
      'select a::text || c::text as text from identity_alert a, identity_alert_channel c',
    );
    for (const secret of [WEBHOOK.config.signingSecret, SLACK.config.webhookUrl, PAGERDUTY.config.integrationKey])
      expect(JSON.stringify(rows)).not.toContain(secret);
    expect(mustSucceed(await admin.delete(`${ALERTS}/${alert.id}`)).body).toEqual({ alert });
    expect(await admin.get(`${ALERTS}/${alert.id}`)).toBeError(404, 'IDENTITY_ALERT_NOT_FOUND');
    expect(await admin.delete(`${ALERTS}/${alert.id}`)).toBeError(404, 'IDENTITY_ALERT_NOT_FOUND');
    expect(await sealedOf(alert.id)).toEqual([]);
  });

  test('changes what is given, and keeps the rest; what changes nothing makes no version', async () => {
    const { alert, patch, admin } = await seedAlert({ description: 'what for' });
    let expected = alert;
    for (const change of [
      { name: 'Other' },
      { description: null },
      { condition: { alertBefore: '90d' } },
      { condition: { dailyReminder: true } },
      { enabled: false },
    ]) {
      const condition = { ...expected.condition, ...change.condition };
      expected = { ...expected, ...change, condition };
      const { updatedAt, ...changed } = mustSucceed(await patch(change)).body.alert;
      expect({ ...changed, updatedAt: '' }).toEqual({ ...expected, updatedAt: '' });
      expect(updatedAt >= alert.updatedAt).toBe(true);
    }
    expect(await shown(admin, alert.id)).toMatchObject({ version: 6, alertBefore: '90d', hasDailyReminder: true });
    const { name, description, condition, enabled } = expected;
    const [{ id, name: channel, channelType }] = alert.channels;
    const same = { name, description, condition, enabled, channels: [{ id, name: channel, channelType, config: {} }] };
    mustSucceed(await patch(same));
    expect((await shown(admin, alert.id)).version).toBe(6);
    const stale = 'mutation ($input: UpdateIdentityAlertInput!) { updateIdentityAlert(input: $input) { __typename } }';
    const input = { id: alert.id, expectedVersion: 1, name: 'Third' };
    expect(await admin.graphql(stale, { input })).toBeError(409, 'CONCURRENT_CHANGE');
  });

  test('keeps channels that are named by their ids, with their ids, and replaces the others', async () => {
    const { alert, patch, admin } = await seedAlert({ channels: [WEBHOOK, SLACK, PAGERDUTY] });
    const [hook, slack, pager] = alert.channels;
    const [, before] = await sealedOf(alert.id);
    const { channels } = mustSucceed(
      await patch({
        channels: [
          { ...SLACK, id: slack.id, name: 'Renamed', config: {} },
          { ...WEBHOOK, id: hook.id, config: { url: 'https://hooks.example.com/other' } },
          { ...WEBHOOK, name: 'New', enabled: false, config: { url: 'https://hooks.example.com/new' } },
        ],
      }),
    ).body.alert;
    expect(channels).toMatchObject([
      { id: slack.id, name: 'Renamed', channelType: 'slack', config: { hasWebhookUrl: true } },
      { id: hook.id, config: { url: 'https://hooks.example.com/other', hasSigningSecret: true } },
      { name: 'New', enabled: false, config: { url: 'https://hooks.example.com/new', hasSigningSecret: false } },
    ]);
    expect(channels.map(({ id }: { id: string }) => id)).not.toContain(pager.id);
    expect((await sealedOf(alert.id))[0]).toEqual(before);
    expect((await shown(admin, alert.id)).version).toBe(2);
    const cleared = mustSucceed(
      await patch({ channels: [{ ...WEBHOOK, id: hook.id, config: { ...WEBHOOK.config, signingSecret: '' } }] }),
    ).body.alert;
    expect(cleared.channels).toMatchObject([{ id: hook.id, config: { hasSigningSecret: false } }]);
    const unknown = await patch({ channels: [{ ...WEBHOOK, id: pager.id }] });
    expect(unknown).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(unknown)).toEqual(['body.channels[0].id INVALID']);
  });

  test('mails users and groups of the organization, whom its channel shows as they were given', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await identityWithAuth(admin);
    const { userId } = await strongroom.seed.user(admin);
    const group = mustSucceed(await admin.post('/api/v1/groups', { name: `group-${randomUUID().slice(0, 8)}` })).body;
    const recipients = [
      { principalType: 'user', principalId: userId },
      { principalType: 'group', principalId: group.id },
    ];
    const email = { name: 'Mail', channelType: 'email', enabled: true, config: {}, recipients };
    const alert = await makeAlert(admin, identityId, { channels: [email] });
    expect(alert.channels).toMatchObject([email]);
    const [{ id }] = alert.channels;
    const patch = (channel: object) =>
      admin.patch(`${ALERTS}/${alert.id}`, { channels: [{ ...email, id, ...channel }] });
    const changed = mustSucceed(await patch({ recipients: recipients.slice(1) })).body.alert;
    expect(changed.channels).toMatchObject([{ id, config: {}, recipients: recipients.slice(1) }]);
    const kept = mustSucceed(await patch({ recipients: undefined })).body.alert;
    expect(kept.channels).toMatchObject([{ id, recipients: recipients.slice(1) }]);
    const stranger = await strongroom.seed.user((await strongroom.seed.organization()).admin);
    const refused = await patch({ recipients: [{ principalType: 'user', principalId: stranger.userId }] });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.text).toContain('must be a member of the organization');
    const many = Array.from({ length: 21 }, () => ({ principalType: 'user', principalId: randomUUID() }));
    expect(violationsOf(await patch({ recipients: many }))).toEqual(['body.channels[0].recipients TOO_BIG']);
  });

  test('reports all violations at once, each at its place', async () => {
    const { admin } = await strongroom.seed.organization();
    const identityId = await identityWithAuth(admin);
    const reply = await admin.post(ALERTS, {
      ...ALERT,
      name: '',
      resourceType: 'secret.reminder',
      eventType: 'other',
      resourceId: identityId,
      condition: { alertBefore: '91d' },
      channels: [
        { name: '', channelType: 'email', config: {}, recipients: [{ principalType: 'robot', principalId: 'x' }] },
        { name: 'a', channelType: 'email', config: {} },
        { name: 'b', channelType: 'webhook', config: { url: 'http://hooks.example.com' } },
        { name: 'c', channelType: 'slack', config: { webhookUrl: 'https://example.com' } },
        { name: 'd', channelType: 'pagerduty', config: { integrationKey: 'x' } },
      ],
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual(
      [
        'body.channels[0].name TOO_SMALL',
        'body.channels[0].recipients[0].principalType INVALID_VALUE',
        'body.channels[1].recipients MISSING',
        'body.channels[2].config.url INVALID_FORMAT',
        'body.channels[3].config.webhookUrl INVALID',
        'body.channels[4].config.integrationKey INVALID_FORMAT',
        'body.condition.alertBefore INVALID_FORMAT',
        'body.eventType INVALID_VALUE',
        'body.name TOO_SMALL',
        'body.resourceType INVALID_VALUE',
      ].sort(),
    );
    for (const alertBefore of ['0d', '1w', '30', '030d', '1.5d', 'd'])
      expect(await admin.post(ALERTS, { ...ALERT, resourceId: identityId, condition: { alertBefore } })).toBeError(
        422,
        'VALIDATION_FAILED',
      );
    for (const alertBefore of ['1d', '9d', '10d', '89d', '90d'])
      await makeAlert(admin, identityId, { name: alertBefore, condition: { alertBefore } });
  });

  test('has a name of its own among those of the identity: another one of the name is 400', async () => {
    const { admin, identityId, patch } = await seedAlert();
    const again = await admin.post(ALERTS, { ...ALERT, resourceId: identityId });
    expect(again).toBeError(400, 'IDENTITY_ALERT_NAME_TAKEN');
    await makeAlert(admin, identityId, { name: 'Other' });
    expect(await patch({ name: 'Other' })).toBeError(400, 'IDENTITY_ALERT_NAME_TAKEN');
    await makeAlert(admin, await identityWithAuth(admin));
  });
});

describe('rights on alerts', () => {
  test('of the organization are those on its identities', async () => {
    const { admin, identityId, alert, patch } = await seedAlert();
    const member = await strongroom.seed.caller(admin, { organizationRole: 'no-access' });
    expect(await member.get(`${ALERTS}/${alert.id}`)).toBeError(404, 'IDENTITY_ALERT_NOT_FOUND');
    expect(await member.get(`${ALERTS}/${randomUUID()}`)).toBeError(404, 'IDENTITY_ALERT_NOT_FOUND');
    expect(await member.get(ALERTS)).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.post(ALERTS, { ...ALERT, resourceId: identityId })).toBeError(403, 'PERMISSION_DENIED');
    const role = { slug: 'reader', name: 'reader', permissions: [{ subject: 'identity', action: ['read'] }] };
    mustSucceed(await admin.post('/api/v1/organization/roles', role));
    const SET =
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }';
    const { organization } = await admin.data('{ organization { id } }');
    const input = { organizationId: organization.id, identityId: member.identityId, roleSlug: 'reader' };
    await admin.data(SET, { input });
    expect(mustSucceed(await member.get(`${ALERTS}/${alert.id}`)).body).toEqual({ alert });
    expect(mustSucceed(await member.get(ALERTS)).body.alerts).toHaveLength(1);
    for (const reply of [
      await member.patch(`${ALERTS}/${alert.id}`, { name: 'x' }),
      await member.delete(`${ALERTS}/${alert.id}`),
      await member.post(ALERTS, { ...ALERT, name: 'x', resourceId: identityId }),
    ])
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await patch({ name: 'y' }));
  });

  test('of a project are those on the identity in the project, by conditions too', async () => {
    const { admin, project } = await strongroom.seed.project();
    const [one, other] = [await identityWithAuth(admin), await identityWithAuth(admin)];
    for (const id of [one, other])
      mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/identity-memberships/${id}`, { role: 'viewer' }));
    const alerts = [
      await makeAlert(admin, one, { projectId: project.id }),
      await makeAlert(admin, other, { projectId: project.id }),
    ];
    await makeAlert(admin, one);
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'identity',
      action: ['read', 'edit'],
      conditions: { identityId: { $eq: one } },
    });
    const listed = mustSucceed(await caller.get(`${ALERTS}?projectId=${project.id}`)).body;
    expect(listed).toEqual({ alerts: [alerts[0]] });
    expect(mustSucceed(await caller.patch(`${ALERTS}/${alerts[0].id}`, { name: 'mine' })).body.alert.name).toBe('mine');
    expect(await caller.get(`${ALERTS}/${alerts[1].id}`)).toBeError(403, 'PERMISSION_DENIED');
    const body = { ...ALERT, name: 'new', projectId: project.id };
    mustSucceed(await caller.post(ALERTS, { ...body, resourceId: one }));
    expect(await caller.post(ALERTS, { ...body, resourceId: other })).toBeError(403, 'PERMISSION_DENIED');
    const stranger = await identityWithAuth(admin);
    expect(await admin.post(ALERTS, { ...body, resourceId: stranger })).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('an alert of an identity that a project owns belongs to that project', async () => {
    const { admin, project } = await strongroom.seed.project();
    const CREATE = 'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }';
    const { createIdentity } = await admin.data(CREATE, { input: { name: 'owned', projectId: project.id } });
    const body = { ...ALERT, resourceId: createIdentity.identity.id };
    expect(violationsOf(await admin.post(ALERTS, body))).toEqual(['body.projectId MISSING']);
    const { alert } = mustSucceed(await admin.post(ALERTS, { ...body, projectId: project.id })).body;
    expect(alert.projectId).toBe(project.id);
    mustSucceed(await admin.delete(`/api/v1/identities/${body.resourceId}`));
    expect(await admin.get(`${ALERTS}/${alert.id}`)).toBeError(404, 'IDENTITY_ALERT_NOT_FOUND');
  });
});
