import { type Caller, mustSucceed } from '../kit/caller.js';
import { useSharedStrongroom } from '../kit/strongroom.js';

/**
 * The requests of the `alert` resource of the Terraform provider, as its sources have them: create, read, update, read, delete; what it
 * makes of the replies; and what it takes for an alert that exists or is gone.
 */
const strongroom = useSharedStrongroom();

const HEADERS = { 'user-agent': 'terraform' };
const EVENT = 'identity.authentication.expiry';
const RESOURCE = 'identity.authentication';

interface Channel {
  readonly id?: string;
  readonly name: string;
  readonly channelType: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly recipients: readonly { readonly principalType: string; readonly principalId: string }[];
}

/** The provider decodes these fields, and nothing else. */
interface Alert {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly resourceType: string;
  readonly resourceId: string | null;
  readonly eventType: string;
  readonly condition: { readonly alertBefore: string; readonly dailyReminder: boolean };
  readonly enabled: boolean;
  readonly orgId: string;
  readonly projectId: string | null;
  readonly channels: readonly (Channel & { readonly id: string })[];
}

/** What the provider keeps of an alert in its state: secrets stay what they were in the configuration while a reply says that they are stored. */
const stateOf = ({
  id,
  name,
  description,
  resourceType,
  resourceId,
  eventType,
  condition,
  enabled,
  ...rest
}: Alert) => ({
  ...{ id, name, description, resourceType, resourceId, eventType, enabled },
  alertBeforeDays: Number(/^(\d+)d$/.exec(condition.alertBefore)?.[1]),
  dailyReminder: condition.dailyReminder,
  orgId: rest.orgId,
  projectId: rest.projectId,
  channels: rest.channels.map((channel) => ({
    id: channel.id,
    name: channel.name,
    enabled: channel.enabled,
    type: channel.channelType,
    url: channel.config.url ?? '',
    isKept: ['hasWebhookUrl', 'hasSigningSecret', 'hasIntegrationKey'].map((key) => channel.config[key] !== false),
    recipients: channel.recipients.map(({ principalType, principalId }) => `${principalType} ${principalId}`).sort(),
  })),
});

const alerts = (caller: Caller) => ({
  create: async (body: object): Promise<Alert> =>
    mustSucceed(await caller.post('/api/v1/alerts', body, HEADERS)).body.alert,
  read: async (id: string): Promise<Alert> => mustSucceed(await caller.get(`/api/v1/alerts/${id}`, HEADERS)).body.alert,
  update: async (id: string, body: object): Promise<Alert> =>
    mustSucceed(await caller.patch(`/api/v1/alerts/${id}`, body, HEADERS)).body.alert,
});

async function seed() {
  const { admin, project, organization } = await strongroom.seed.project();
  const identity = await strongroom.seed.caller(admin, { project: project.id });
  const user = await strongroom.seed.user(admin, { project: project.id });
  const group = mustSucceed(
    await admin.post('/api/v1/groups', { name: 'security', slug: 'security', role: 'no-access' }),
  ).body;
  return {
    admin,
    project,
    organization,
    identityId: identity.identityId,
    userId: user.userId,
    groupId: group.id as string,
  };
}

test('create, read, update, read, delete of an alert of the organization', async () => {
  const { admin, organization, identityId, userId, groupId } = await seed();
  const { create, read, update } = alerts(admin);
  const mail: Channel = {
    name: 'Security team',
    channelType: 'email',
    enabled: true,
    config: {},
    recipients: [
      { principalType: 'user', principalId: userId },
      { principalType: 'group', principalId: groupId },
    ],
  };
  const slack: Channel = {
    name: 'Platform Slack',
    channelType: 'slack',
    enabled: true,
    config: { webhookUrl: 'https://hooks.slack.com/services/T00000000/B00000000/XXXX' },
    recipients: [],
  };
  const hook: Channel = {
    name: 'Internal automation',
    channelType: 'webhook',
    enabled: true,
    config: { url: 'https://example.com/alerts', signingSecret: 'a signing secret' },
    recipients: [],
  };
  const pager: Channel = {
    name: 'On-call',
    channelType: 'pagerduty',
    enabled: false,
    config: { integrationKey: '00000000000000000000000000000000' },
    recipients: [],
  };
  const wanted = {
    name: 'CI identity credentials expiring',
    resourceType: RESOURCE,
    resourceId: identityId,
    eventType: EVENT,
    condition: { alertBefore: '30d', dailyReminder: false },
    enabled: true,
    channels: [hook, pager, slack, mail],
  };
  const created = await create(wanted);
  expect(created).toMatchObject({ ...wanted, channels: expect.any(Array), orgId: organization.id, projectId: null });
  expect(created.description).toBeNull();
  // It finds the IDs of its channels by name, type, address and recipients.
  expect(created.channels.map(({ name, channelType }) => [name, channelType])).toEqual(
    wanted.channels.map(({ name, channelType }) => [name, channelType]),
  );
  expect(stateOf(await read(created.id))).toEqual(stateOf(created));
  expect(stateOf(created).channels.map(({ isKept }) => isKept)).toEqual(wanted.channels.map(() => [true, true, true]));
  expect(created.channels[3]?.recipients).toEqual(mail.recipients);
  expect(JSON.stringify(created)).not.toMatch(/signing secret|hooks\.slack\.com|0{32}/);

  // A plan that renames the alert, reminds daily, drops the signing secret, removes the pager, and adds a description.
  const [{ id: hookId } = { id: '' }, , { id: slackId } = { id: '' }, { id: mailId } = { id: '' }] = created.channels;
  const change = {
    name: 'CI credentials',
    description: 'Rotate the client secret before it expires',
    condition: { alertBefore: '7d', dailyReminder: true },
    enabled: true,
    channels: [
      { ...hook, id: hookId, config: { url: 'https://example.com/alerts', signingSecret: '' } },
      { ...slack, id: slackId, name: 'Slack' },
      { ...mail, id: mailId, recipients: mail.recipients.slice(0, 1) },
    ],
  };
  const updated = await update(created.id, change);
  const after = await read(created.id);
  expect(stateOf(after)).toEqual(stateOf(updated));
  expect(stateOf(after)).toMatchObject({
    name: change.name,
    description: change.description,
    alertBeforeDays: 7,
    dailyReminder: true,
  });
  expect(after.channels.map(({ id }) => id)).toEqual([hookId, slackId, mailId]);
  expect(after.channels[0]?.config).toEqual({ url: 'https://example.com/alerts', hasSigningSecret: false });
  expect(after.channels[2]?.recipients).toEqual(mail.recipients.slice(0, 1));
  // The same plan once more, without the secret that is gone by now; a description that is gone is sent as null.
  const [first, ...others] = change.channels;
  const again = { ...change, channels: [{ ...first, config: { url: 'https://example.com/alerts' } }, ...others] };
  expect(stateOf(await update(created.id, again))).toEqual(stateOf(after));
  expect((await update(created.id, { ...again, description: null })).description).toBeNull();

  const deleted = mustSucceed(await admin.delete(`/api/v1/alerts/${created.id}`, undefined, HEADERS)).body;
  expect(deleted.alert.id).toBe(created.id);
  // 404 and 422 are gone for it: state is dropped, and an update and a deletion say so.
  for (const reply of [
    await admin.get(`/api/v1/alerts/${created.id}`, HEADERS),
    await admin.patch(`/api/v1/alerts/${created.id}`, again, HEADERS),
    await admin.delete(`/api/v1/alerts/${created.id}`, undefined, HEADERS),
  ])
    expect(reply).toBeError(404, 'IDENTITY_ALERT_NOT_FOUND');
});

test('an alert of a project, and the list that tells a duplicate from another refusal', async () => {
  const { admin, project, identityId, userId } = await seed();
  const { create, read } = alerts(admin);
  const body = {
    name: 'Deploy identity credentials expiring',
    description: 'for the owners',
    resourceType: RESOURCE,
    resourceId: identityId,
    eventType: EVENT,
    condition: { alertBefore: '90d', dailyReminder: true },
    enabled: false,
    projectId: project.id,
    channels: [
      {
        name: 'Owners',
        channelType: 'email',
        enabled: true,
        config: {},
        recipients: [{ principalType: 'user', principalId: userId }],
      },
    ],
  };
  const created = await create(body);
  expect(created).toMatchObject({ ...body, channels: [{ ...body.channels[0], id: expect.any(String) }] });
  expect(stateOf(await read(created.id))).toEqual(stateOf(created));
  // Created before, with the reply lost: the provider looks for the alert of the event, and says which one to import.
  expect(await admin.post('/api/v1/alerts', body, HEADERS)).toBeError(400, 'IDENTITY_ALERT_NAME_TAKEN');
  const found = async (projectId?: string): Promise<Alert[]> => {
    const query = new URLSearchParams({
      resourceType: RESOURCE,
      resourceId: String(identityId),
      ...(projectId ? { projectId } : {}),
    });
    return mustSucceed(await admin.get(`/api/v1/alerts?${query}`, HEADERS)).body.alerts;
  };
  expect((await found(project.id)).map(({ id, eventType }) => [id, eventType])).toEqual([[created.id, EVENT]]);
  expect(await found()).toEqual([]);
  // One of the organization is another alert, of the same name.
  const { projectId: _, ...ofOrganization } = body;
  const other = await create(ofOrganization);
  expect((await found()).map(({ id }) => id)).toEqual([other.id]);
  expect((await found(project.id)).map(({ id }) => id)).toEqual([created.id]);
});
