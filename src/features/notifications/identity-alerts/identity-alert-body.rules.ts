import * as z from 'zod';
import { storedText } from '../../../kernel/text-rules.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { type AlertRules, alertBefore, dailyReminder, EVENT, RESOURCE } from './identity-alert.rules.js';

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
  const { id, recipients: named, config } = given as Partial<GivenChannel>;
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

/** The body of a new alert. */
export function alertBody(rules: AlertRules) {
  const { name, description, enabled, projectId, channels } = rules.create.shape;
  const [email, webhook, slack, pagerduty] = channels.element.options;
  const configs = configsOf(rules);
  return z.strictObject({
    name,
    description,
    resourceType: z.literal(RESOURCE).meta({ description: `What is watched: \`${RESOURCE}\`.` }),
    resourceId: z.string().meta({ description: 'ID of the machine identity.' }),
    eventType: z.literal(EVENT).meta({ description: `What the alert notifies of: \`${EVENT}\`.` }),
    condition: z
      .strictObject({ alertBefore, dailyReminder: dailyReminder.default(false) })
      .meta({ description: 'When the alert notifies.' }),
    enabled,
    projectId,
    channels: z
      .array(
        z.discriminatedUnion('channelType', [
          z
            .strictObject({ ...email.shape, config: configs.email, recipients })
            .superRefine(refuseNobody, EVEN_IF_INVALID),
          z.strictObject({ ...webhook.shape, config: configs.webhook, recipients: nobody }),
          slack.extend({ recipients: nobody }),
          pagerduty.extend({ recipients: nobody }),
        ]),
      )
      .min(1)
      .max(MOST_CHANNELS)
      .meta({ description: 'The channels that the alert notifies, 1 to 10.' }),
  });
}

/** The body of a changed alert. */
export function changeBody(rules: AlertRules) {
  const { name, description, enabled, channels } = rules.update.shape;
  const [email, webhook, slack, pagerduty] = channels.unwrap().element.options;
  const configs = configsOf(rules);
  return z.strictObject({
    name,
    description,
    condition: z
      .strictObject({ alertBefore: alertBefore.optional(), dailyReminder: dailyReminder.optional() })
      .optional()
      .meta({ description: 'When the alert notifies.' }),
    enabled,
    channels: z
      .array(
        z.discriminatedUnion('channelType', [
          z
            .strictObject({ ...email.shape, config: configs.email, recipients })
            .superRefine(refuseNobody, EVEN_IF_INVALID),
          z.strictObject({ ...webhook.shape, config: configs.changedWebhook, recipients: nobody }),
          slack.extend({ recipients: nobody }),
          pagerduty.extend({ recipients: nobody }),
        ]),
      )
      .min(1)
      .max(MOST_CHANNELS)
      .optional()
      .meta({
        description:
          'All channels of the alert, 1 to 10. A channel with the ID of an existing one changes it; existing channels that are not listed are deleted.',
      }),
  });
}

/** A channel as these rules leave it. */
export interface GivenChannel {
  readonly id?: string | undefined;
  readonly name: string;
  readonly channelType: string;
  readonly enabled?: boolean | undefined;
  readonly config?: { readonly recipients?: readonly string[]; readonly signingSecret?: string | null } | undefined;
  readonly recipients?: readonly { readonly principalType: string; readonly principalId: string }[] | undefined;
}

/** An alert as these rules leave it. */
export interface GivenAlert {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly resourceId: string;
  readonly condition: { readonly alertBefore?: string | undefined; readonly dailyReminder?: boolean | undefined };
  readonly enabled: boolean;
  readonly projectId?: string | null | undefined;
  readonly channels: readonly GivenChannel[];
}
