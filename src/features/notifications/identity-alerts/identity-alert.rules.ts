import * as z from 'zod';
import { type ListOrder, orderRulesOf } from '../../../kernel/list-order.js';
import { isPrivateHost } from '../../../kernel/outbound/target-addresses.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { expectedVersion, idOf, storedText } from '../../../kernel/value-rules.js';
import { channelRules, type MayCall } from '../alerts/public.js';
import { RETRIED } from '../deliveries/public.js';

/** What is watched, and the event, as REST names them. */
export const RESOURCE = 'identity.authentication';
export const EVENT = 'identity.authentication.expiry';

const MOST_DAYS = 90;

const id = idOf('ID of the alert.');
const identityId = idOf('ID of the machine identity whose credentials are watched.');
const projectId = idOf(
  'ID of the project that the alert belongs to, of which the identity is a member. Without it the alert belongs to the organization.',
).nullish();

const name = storedText(255)
  .min(1)
  .meta({ description: 'Name of the alert, 1 to 255 characters, unique among the alerts of the identity.' });
const description = storedText(1_000)
  .nullish()
  .meta({ description: 'What the alert is for, at most 1,000 characters.' });
const isEnabled = z.boolean();

/** A whole number of days, such as `30d`. */
const alertBefore = z
  .string()
  .regex(/^([1-9]|[1-8]\d|90)d$/, `must be a whole number of days from 1d to ${MOST_DAYS}d`)
  .meta({
    description: `How long before a credential expires the alert notifies: \`1d\` to \`${MOST_DAYS}d\`, for example \`30d\`.`,
  });

const hasDailyReminder = z.boolean().meta({
  description:
    'Whether the alert notifies every day (UTC) until the credential expires or is revoked. Without it the alert notifies once.',
});

/** What channels of these alerts have beside those of certificate alerts. */
const NAMED = {
  name: storedText(255).min(1).meta({ description: 'Name of the channel, 1 to 255 characters.' }),
};

/** Inputs of new and changed alerts. */
function alertRules(mayCall: MayCall) {
  const { configs, newChannels, changedChannels } = channelRules(mayCall, NAMED);
  return {
    configs,
    create: z
      .strictObject({
        identityId,
        projectId,
        name,
        description,
        alertBefore,
        hasDailyReminder: hasDailyReminder.default(false),
        channels: newChannels.meta({ description: 'The channels that the alert notifies, 1 to 10.' }),
        isEnabled: isEnabled.default(true).meta({ description: 'Whether the alert notifies.' }),
      })
      .meta({ description: 'Input of `createIdentityAlert`.' }),
    update: z
      .strictObject({
        id,
        expectedVersion,
        name: name.optional(),
        description,
        alertBefore: alertBefore.optional(),
        hasDailyReminder: hasDailyReminder.optional(),
        channels: changedChannels.optional().meta({
          description:
            'All channels of the alert, 1 to 10, in their order. A channel with the ID of an existing one changes it; existing channels that are not listed are deleted.',
        }),
        isEnabled: isEnabled.optional().meta({ description: 'Whether the alert notifies.' }),
      })
      .meta({ description: 'Input of `updateIdentityAlert`. Fields that are absent stay as they are.' }),
  };
}
export type AlertRules = ReturnType<typeof alertRules>;

/** Rules with which webhooks may go to any host: those that the schema is made of. */
export const ANYWHERE = alertRules(() => true);

/** The rules of an installation. They differ in what they refuse, and not in what they take. */
export const rulesFor = ({ allowPrivateTargets }: { readonly allowPrivateTargets: boolean }): AlertRules =>
  allowPrivateTargets ? ANYWHERE : alertRules((host) => !isPrivateHost(host));

/** Input of `deleteIdentityAlert`, and arguments of `identityAlert`. */
export const OneAlert = z.strictObject({ id }).meta({ description: 'The alert, by ID.' });

/** Input of `retryIdentityAlertMessages`. */
export const RetryMessages = z
  .strictObject({ id, ...RETRIED })
  .meta({ description: 'Which failed and cancelled messages of an alert to retry.' });

/** The order of alerts when none is asked for. */
export const NEWEST_FIRST: ListOrder = { field: 'CREATED_AT', direction: 'DESC' };

/** Arguments of `identityAlerts`. */
export const ListAlerts = z.strictObject({
  projectId: idOf('Only alerts of this project. Without it, only those of the organization itself.').nullish(),
  identityId: idOf('Only alerts of this machine identity.').nullish(),
  ...pageRules,
  ...orderRulesOf('newest first, which is CREATED_AT DESC'),
});

const MOST_CHANNELS = 10;
const MOST_RECIPIENTS = 20;

/** Users and groups that get mails. */
const recipients = z
  .array(
    z.strictObject({
      principalType: z.enum(['user', 'group']).meta({ description: '`user` or `group`.' }),
      principalId: z.string().meta({ description: 'ID of the user or of the group.' }),
    }),
  )
  .min(1)
  .max(MOST_RECIPIENTS)
  .optional()
  .meta({
    description: `Users and groups that get the mails, 1 to ${MOST_RECIPIENTS}. They must be members of the project, or of the organization.`,
  });

/** Clients send an empty list with channels that are no mail. */
const nobody = z
  .array(z.unknown())
  .max(0)
  .optional()
  .meta({ description: 'Only channels of the type `email` have recipients: absent or empty.' });

const missing = (issues: z.core.$RefinementCtx, key: string): void =>
  issues.addIssue({ code: 'custom', path: [key], message: 'required', params: { code: 'MISSING' } });

/** Of a new channel somebody has to get the mails. */
const refuseNobody = (given: object, issues: z.core.$RefinementCtx): void => {
  const { id, recipients: named, config } = given as Partial<ChannelInput>;
  if (id === undefined && named === undefined && config?.recipients === undefined) missing(issues, 'recipients');
};

/** A signing secret without an address would be one of nowhere. */
const refuseNowhere = (given: object, issues: z.core.$RefinementCtx): void => {
  if (Object.keys(given).length > 0 && !('url' in given)) missing(issues, 'url');
};

/** Configs of channels whose bodies differ from the inputs of GraphQL. */
function configsOf({ configs: { email, webhook } }: AlertRules) {
  const url = webhook.shape.url;
  const signingSecret = storedText(256).nullish().meta({
    description:
      'Signs the requests, at most 256 characters. Absent keeps the existing one; an empty string or null removes it.',
  });
  return {
    email: z
      .strictObject({ recipients: email.shape.recipients })
      .optional()
      .meta({ description: 'Further addresses.' }),
    webhook: z
      .strictObject({ url, signingSecret })
      .meta({ description: 'Where the webhook is sent, and how it is signed.' }),
    changedWebhook: z
      .strictObject({ url: url.optional(), signingSecret })
      .superRefine(refuseNowhere, EVEN_IF_INVALID)
      .optional()
      .meta({ description: 'As of a new channel. Absent or `{}` keeps the existing configuration.' }),
  };
}

type Options =
  | AlertRules['create']['shape']['channels']['element']['options']
  | ReturnType<AlertRules['update']['shape']['channels']['unwrap']>['element']['options'];

/** The channels of a body: those of the inputs, with users and groups beside the config. */
const bodyChannels = ([email, webhook, slack, pagerduty]: Options, emailConfig: z.ZodType, webhookConfig: z.ZodType) =>
  z
    .array(
      z.discriminatedUnion('channelType', [
        z.strictObject({ ...email.shape, config: emailConfig, recipients }).superRefine(refuseNobody, EVEN_IF_INVALID),
        z.strictObject({ ...webhook.shape, config: webhookConfig, recipients: nobody }),
        z.strictObject({ ...slack.shape, recipients: nobody }),
        z.strictObject({ ...pagerduty.shape, recipients: nobody }),
      ]),
    )
    .min(1)
    .max(MOST_CHANNELS);

/** The body of a new alert. */
export function alertBody(rules: AlertRules) {
  const { name, description, isEnabled: enabled, projectId, channels } = rules.create.shape;
  const configs = configsOf(rules);
  return z.strictObject({
    name,
    description,
    resourceType: z.literal(RESOURCE).meta({ description: `What is watched: \`${RESOURCE}\`.` }),
    resourceId: z.string().meta({ description: 'ID of the machine identity.' }),
    eventType: z.literal(EVENT).meta({ description: `What the alert notifies of: \`${EVENT}\`.` }),
    condition: z
      .strictObject({ alertBefore, dailyReminder: hasDailyReminder.default(false) })
      .meta({ description: 'When the alert notifies.' }),
    enabled,
    projectId,
    channels: bodyChannels(channels.element.options, configs.email, configs.webhook).meta({
      description: 'The channels that the alert notifies, 1 to 10.',
    }),
  });
}

/** The body of a changed alert. */
export function changeBody(rules: AlertRules) {
  const { name, description, isEnabled: enabled, channels } = rules.update.shape;
  const configs = configsOf(rules);
  return z.strictObject({
    name,
    description,
    condition: z
      .strictObject({ alertBefore: alertBefore.optional(), dailyReminder: hasDailyReminder.optional() })
      .optional()
      .meta({ description: 'When the alert notifies.' }),
    enabled,
    channels: bodyChannels(channels.unwrap().element.options, configs.email, configs.changedWebhook).optional().meta({
      description:
        'All channels of the alert, 1 to 10. A channel with the ID of an existing one changes it; existing channels that are not listed are deleted.',
    }),
  });
}

/** A channel as these rules leave it. */
export interface ChannelInput {
  readonly id?: string | undefined;
  readonly name: string;
  readonly channelType: string;
  readonly enabled?: boolean | undefined;
  readonly config?: { readonly recipients?: readonly string[]; readonly signingSecret?: string | null } | undefined;
  readonly recipients?: readonly { readonly principalType: string; readonly principalId: string }[] | undefined;
}

/** An alert as these rules leave it. */
export interface AlertInput {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly resourceId: string;
  readonly condition: { readonly alertBefore?: string | undefined; readonly dailyReminder?: boolean | undefined };
  readonly enabled: boolean;
  readonly projectId?: string | null | undefined;
  readonly channels: readonly ChannelInput[];
}
