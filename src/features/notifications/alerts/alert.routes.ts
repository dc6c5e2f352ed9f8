import * as z from 'zod';
import {
  bodyOf,
  type Data,
  eachOf,
  inWords,
  optionalSample,
  paging,
  queryInteger,
  type Route,
  routesAt,
  withoutNull,
} from '../../../rest/route.js';
import { type AlertRules, eventType } from './alert.rules.js';

/** The fields of an alert in the order of the specification. */
const ALERT = `id name description eventType alertBefore filters enabled: isEnabled hasDailyReminder projectId
  channels { id channelType enabled: isEnabled createdAt updatedAt } createdAt updatedAt`;

/** Fields that REST calls otherwise. */
const WORDS = { enabled: 'isEnabled' } as const;

const NOT_FOUND = ['CERTIFICATE_ALERT_NOT_FOUND'] as const;
/** Callers send channels back as they were shown. */
const AS_SHOWN = { 'channels[].createdAt': null, 'channels[].updatedAt': null };

/** Of alerts that notify every day. The reply of the others is that of the specification. */
function reminderOut(isDaily: unknown): Data {
  if (isDaily === false) return {};
  const notificationConfig = { enableDailyNotification: isDaily };
  return { notificationConfig: isDaily === true ? notificationConfig : optionalSample(notificationConfig) };
}

/** Configs are not returned. */
const toReply = ({ version: _, channels, hasDailyReminder, ...alert }: Data): Data => ({
  ...alert,
  ...reminderOut(hasDailyReminder),
  channels: eachOf(channels as Data[], ({ id, channelType, ...channel }) => ({
    id,
    channelType,
    config: {},
    ...channel,
  })),
});

/** Another name of `hasDailyReminder`. */
const notificationConfig = z
  .strictObject({
    enableDailyNotification: z
      .boolean()
      .meta({ description: 'Whether to repeat the notification of a certificate daily.' }),
  })
  .optional()
  .meta({
    description:
      'With `enableDailyNotification`, repeats the notification daily until the certificate is replaced or revoked.',
  });

const reminderIn = (config: { readonly enableDailyNotification: boolean } | undefined) => ({
  hasDailyReminder: config?.enableDailyNotification,
});

interface GivenChannel {
  readonly channelType: string;
  readonly config?: object | undefined;
  readonly id?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** A config is named by the type of its channel; of a channel that keeps its own there is none. */
const configOf = ({ channelType, config }: GivenChannel): object | undefined =>
  config === undefined || Object.keys(config).length === 0 ? undefined : { [channelType]: config };

const newChannels = (channels: readonly GivenChannel[]) =>
  channels.map(({ enabled, ...channel }) => ({ isEnabled: enabled, config: configOf(channel as GivenChannel) }));
const changedChannels = (channels: readonly GivenChannel[] | undefined) =>
  channels?.map(({ enabled, ...channel }) => ({ ...channel, isEnabled: enabled, config: configOf(channel) }));

const ListQuery = z.strictObject({
  projectId: z.string().meta({ description: 'ID of the project.' }),
  search: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'Only items whose name contains this string, ignoring case.' }),
  eventType: eventType.optional().meta({ description: 'Only items for this event.' }),
  enabled: z
    .enum(['true', 'false'])
    .transform((word) => word === 'true')
    .optional()
    .meta({ description: 'Only enabled alerts (`true`), or only disabled ones (`false`).' }),
  ...paging,
  offset: queryInteger(0, 10_000).optional().meta({ description: 'Number of items to skip, 0 to 10000.' }),
});

const EXAMPLE = {
  name: 'Certificates of the shop',
  description: 'A month before they expire',
  eventType: 'expiration',
  alertBefore: '30d',
  filters: [{ field: 'profile_name', operator: 'equals', value: 'web-server' }],
  enabled: true,
  channels: [{ channelType: 'email', config: { recipients: ['oncall@example.com'] }, enabled: true }],
} as const;

/** Certificate alerts (operations 11 and 12). */
export function alertRoutes(rules: AlertRules): Route[] {
  const alerts = routesAt('/api/v1/cert-manager/alerts', {
    select: ALERT,
    words: WORDS,
    as: ['alert', 'alerts'],
    show: toReply,
  });
  return [
    alerts.post('', 'Create a certificate alert', {
      operation: 11,
      field: 'createCertificateAlert',
      body: inWords(bodyOf(withoutNull(rules.create), 'hasDailyReminder'), WORDS).extend({ notificationConfig }),
      harmless: AS_SHOWN,
      input: ({ channels, notificationConfig: daily, ...body }) => ({
        ...body,
        ...reminderIn(daily),
        channels: newChannels(channels),
      }),
      errors: ['PROJECT_NOT_FOUND'],
      example: {
        projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
        ...EXAMPLE,
        filters: [...EXAMPLE.filters],
        channels: EXAMPLE.channels.map(({ config, ...channel }) => ({
          ...channel,
          config: { recipients: [...config.recipients] },
        })),
      },
    }),
    alerts.patch('/{alertId}', 'Update a certificate alert', {
      operation: 12,
      field: 'updateCertificateAlert',
      body: inWords(bodyOf(withoutNull(rules.update), 'id', 'expectedVersion', 'hasDailyReminder'), WORDS).extend({
        notificationConfig,
      }),
      harmless: AS_SHOWN,
      input: ({ channels, notificationConfig: daily, ...body }) => ({
        ...body,
        ...reminderIn(daily),
        channels: changedChannels(channels),
      }),
      ifMatch: ({ certificateAlert }) => ({ expectedVersion: certificateAlert.version }),
      errors: [...NOT_FOUND, 'CONCURRENT_CHANGE'],
      example: { alertBefore: '2w', enabled: false },
    }),
    alerts.get('', 'List the certificate alerts of a project, newest first', {
      field: 'certificateAlerts',
      select: `${ALERT} lastRun { timestamp status error: errorCode }`,
      beside: 'total: totalCount',
      query: ListQuery,
      errors: ['PROJECT_NOT_FOUND'],
    }),
    alerts.get('/{alertId}', 'Get a certificate alert', {
      field: 'certificateAlert',
      select: `${ALERT} version`,
      errors: NOT_FOUND,
    }),
    alerts.delete('/{alertId}', 'Delete a certificate alert', {
      field: 'deleteCertificateAlert',
      errors: NOT_FOUND,
    }),
  ];
}
