import * as z from 'zod';
import { type ListOrder, orderRulesOf } from '../../../kernel/list-order.js';
import { expectedVersion } from '../../../kernel/number-rules.js';
import { isPrivateHost } from '../../../kernel/outbound/private-targets.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, storedText } from '../../../kernel/text-rules.js';
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
const enabled = z.boolean();

/** A whole number of days, such as `30d`. */
export const alertBefore = z
  .string()
  .regex(/^([1-9]|[1-8]\d|90)d$/, `must be a whole number of days from 1d to ${MOST_DAYS}d`)
  .meta({
    description: `How long before a credential expires the alert notifies: \`1d\` to \`${MOST_DAYS}d\`, for example \`30d\`.`,
  });

export const dailyReminder = z.boolean().meta({
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
        dailyReminder: dailyReminder.default(false),
        channels: newChannels.meta({ description: 'The channels that the alert notifies, 1 to 10.' }),
        enabled: enabled.default(true).meta({ description: 'Whether the alert notifies.' }),
      })
      .meta({ description: 'Input of `createIdentityAlert`.' }),
    update: z
      .strictObject({
        id,
        expectedVersion,
        name: name.optional(),
        description,
        alertBefore: alertBefore.optional(),
        dailyReminder: dailyReminder.optional(),
        channels: changedChannels.optional().meta({
          description:
            'All channels of the alert, 1 to 10, in their order. A channel with the ID of an existing one changes it; existing channels that are not listed are deleted.',
        }),
        enabled: enabled.optional().meta({ description: 'Whether the alert notifies.' }),
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
