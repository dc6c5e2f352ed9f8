import * as z from 'zod';
import {
  bodyOf,
  type Data,
  eachOf,
  ofSample,
  optionalSample,
  paging,
  type Route,
  routesAt,
  withoutNull,
} from '../../../rest/route.js';
import {
  type AlertInput,
  type AlertRules,
  alertBody,
  type ChannelInput,
  changeBody,
  EVENT,
  RESOURCE,
  RetryMessages,
} from './identity-alert.rules.js';

const NOT_FOUND = ['IDENTITY_ALERT_NOT_FOUND'] as const;

const ALERT = `id name description identityId alertBefore dailyReminder: hasDailyReminder enabled: isEnabled organizationId projectId
  channels { name channel { id channelType enabled: isEnabled createdAt updatedAt
    ... on EmailAlertChannel { recipients userIds groupIds } ... on WebhookAlertChannel { url hasSigningSecret } } }
  createdAt updatedAt`;

/** Of secret parts of a config a reply only tells whether they are stored. */
const configOut = ({ channelType, recipients, url, hasSigningSecret }: Data): Data => {
  switch (channelType) {
    case 'email':
      return recipients.length === 0 ? {} : { recipients };
    case 'webhook':
      return { url, hasSigningSecret };
    case 'slack':
      return { hasWebhookUrl: true };
    case 'pagerduty':
      return { hasIntegrationKey: true };
    // A sample, which has the fields of all types.
    default:
      return {
        recipients: Object.assign([...recipients], optionalSample({})),
        url: optionalSample(url),
        hasSigningSecret: optionalSample(hasSigningSecret),
        hasWebhookUrl: optionalSample(hasSigningSecret),
        hasIntegrationKey: optionalSample(hasSigningSecret),
      };
  }
};

const principals = (principalType: string, ids: readonly unknown[] = []) =>
  ids.map((id) => ({
    principalType: ofSample(id, { type: 'string', enum: ['user', 'group'] }) ?? principalType,
    principalId: id,
  }));

const channelOut = ({ name, channel }: Data): Data => ({
  id: channel.id,
  name,
  channelType: channel.channelType,
  enabled: channel.enabled,
  config: configOut(channel),
  recipients: [...principals('user', channel.userIds), ...principals('group', channel.groupIds)],
  createdAt: channel.createdAt,
  updatedAt: channel.updatedAt,
});

const toReply = ({ version: _, identityId, alertBefore, dailyReminder, organizationId, channels, ...alert }: Data) => ({
  ...alert,
  resourceType: RESOURCE,
  resourceId: identityId,
  eventType: EVENT,
  condition: { alertBefore, dailyReminder },
  orgId: organizationId,
  channels: eachOf(channels as Data[], channelOut),
});

/** The config of a channel, named by its type; undefined where the existing one stays. */
function configIn({ channelType, config, recipients }: ChannelInput): object | undefined {
  if (channelType === 'email') return emailIn({ config, recipients });
  if (config === undefined || Object.keys(config).length === 0) return undefined;
  const { signingSecret, ...given } = config;
  // An empty one removes it; null is how GraphQL says so.
  return {
    [channelType]: { ...given, ...(signingSecret === undefined ? {} : { signingSecret: signingSecret || null }) },
  };
}

function emailIn({ config, recipients }: Pick<ChannelInput, 'config' | 'recipients'>): object | undefined {
  if (config?.recipients === undefined && recipients === undefined) return undefined;
  const idsOf = (isGroup: boolean) => {
    const ids = (recipients ?? [])
      .filter(({ principalType }) => (principalType === 'group') === isGroup)
      .map(({ principalId }) => principalId);
    return ids.length === 0 ? undefined : ids;
  };
  return { email: { recipients: config?.recipients, userIds: idsOf(false), groupIds: idsOf(true) } };
}

const conditionIn = (condition: Partial<AlertInput>['condition']) => ({
  alertBefore: condition?.alertBefore,
  hasDailyReminder: condition?.dailyReminder,
});

const newChannels = (channels: readonly ChannelInput[]) =>
  channels.map((channel) => ({ name: channel.name, isEnabled: channel.enabled, config: configIn(channel) }));
const changedChannels = (channels: readonly ChannelInput[] | undefined) =>
  channels?.map((channel) => ({
    id: channel.id,
    name: channel.name,
    channelType: channel.channelType,
    isEnabled: channel.enabled,
    config: configIn(channel),
  }));

const ListQuery = z.strictObject({
  resourceType: z
    .literal(RESOURCE)
    .optional()
    .meta({ description: `What is watched: \`${RESOURCE}\`.` }),
  resourceId: z.string().optional().meta({ description: 'ID of the machine identity.' }),
  projectId: z
    .string()
    .optional()
    .meta({ description: 'ID of the project. Without it, only alerts of the organization itself are listed.' }),
  ...paging,
});

const EXAMPLE = {
  name: 'Credentials of the deploy pipeline',
  condition: { alertBefore: '30d', dailyReminder: false },
  enabled: true,
  channels: [
    {
      name: 'On call',
      channelType: 'webhook',
      config: { url: 'https://hooks.example.com/alerts', signingSecret: 'a secret of your own' },
      enabled: true,
    },
  ],
} as const;
const CHANNELS = EXAMPLE.channels.map((channel) => ({ ...channel, config: { ...channel.config } }));

/** Alerts of the expiry of credentials of identities, as clients know them. */
export function identityAlertRoutes(rules: AlertRules): Route[] {
  const alerts = routesAt('/api/v1/alerts', { select: ALERT, as: ['alert', 'alerts'], show: toReply });
  return [
    alerts.post('', 'Create an alert of the expiry of credentials of a machine identity', {
      field: 'createIdentityAlert',
      body: alertBody(rules),
      input: (body) => {
        const { resourceId, name, description, condition, enabled, projectId, channels } = body as AlertInput;
        const fields = {
          identityId: resourceId,
          projectId,
          name,
          description,
          ...conditionIn(condition),
          isEnabled: enabled,
        };
        return { ...fields, channels: newChannels(channels) };
      },
      errors: ['PROJECT_NOT_FOUND', 'IDENTITY_NOT_FOUND', 'IDENTITY_ALERT_NAME_TAKEN'],
      example: {
        ...EXAMPLE,
        resourceType: RESOURCE,
        resourceId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
        eventType: EVENT,
        channels: CHANNELS,
      },
    }),
    alerts.get('', 'List alerts of the expiry of credentials of machine identities, newest first', {
      field: 'identityAlerts',
      query: ListQuery,
      // What is watched is said by the path of the type, too: there is one.
      variables: ({ query: { projectId, resourceId, limit, cursor } }) => ({
        ...{ projectId, identityId: resourceId },
        ...{ first: limit, after: cursor },
      }),
      errors: ['PROJECT_NOT_FOUND', 'IDENTITY_NOT_FOUND'],
    }),
    alerts.get('/{alertId}', 'Get an alert of a machine identity', {
      field: 'identityAlert',
      select: `${ALERT} version`,
      errors: NOT_FOUND,
    }),
    alerts.patch('/{alertId}', 'Update an alert of a machine identity', {
      field: 'updateIdentityAlert',
      body: changeBody(rules),
      input: (body) => {
        const { name, description, condition, enabled, channels } = body as Partial<AlertInput>;
        const fields = { name, description, ...conditionIn(condition), isEnabled: enabled };
        return { ...fields, channels: changedChannels(channels) };
      },
      ifMatch: ({ identityAlert }) => ({ expectedVersion: identityAlert.version }),
      errors: [...NOT_FOUND, 'IDENTITY_ALERT_NAME_TAKEN', 'CONCURRENT_CHANGE'],
      example: { condition: { alertBefore: '14d', dailyReminder: true } },
    }),
    alerts.delete('/{alertId}', 'Delete an alert of a machine identity', {
      field: 'deleteIdentityAlert',
      errors: NOT_FOUND,
    }),
    alerts.post('/{alertId}/retry-messages', 'Send failed and cancelled messages of an alert again', {
      field: 'retryIdentityAlertMessages',
      select: 'count hasMore',
      body: bodyOf(withoutNull(RetryMessages), 'id'),
      reply: ({ retryIdentityAlertMessages }) => retryIdentityAlertMessages.retried,
      example: { dryRun: true },
      errors: NOT_FOUND,
    }),
  ];
}
