import { z } from 'zod';
import { integer } from '../../kernel/int.js';
import { type ListOrder, orderRulesOf } from '../../kernel/list-order.js';
import { isPrivateHost } from '../../kernel/outbound/private-targets.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, storedText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../kernel/validation.js';
import { expectedVersion } from '../../kernel/version.js';
import { channelRules, type MayCall } from './channel.rules.js';
import { Filter } from './filter.rules.js';

/** Events of certificates. Source: specification, Certificate alert. */
export const EVENT_TYPES = ['expiration', 'renewal', 'issuance', 'revocation'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const eventType = z.enum(EVENT_TYPES);

/** A whole number and its unit, as `30d`: 1 to 9999 days, weeks, calendar months or calendar years. Source: decisions 7.2. */
export const ALERT_BEFORE = /^[1-9]\d{0,3}[dwmy]$/;

const MAX_FILTERS = 50;

const projectId = idOf('The project, of the type `cert-manager`.');
const id = idOf('certificate alert');

const name = storedText(255).min(1).meta({ description: 'What people call it, 1 to 255 characters.' });
const description = storedText(1_000).nullish().meta({ description: 'What it is for, up to 1,000 characters.' });
const notifiedEvent = eventType.meta({ description: 'Which event it notifies of.' });
const alertBefore = z.string().regex(ALERT_BEFORE, 'must be 1 to 9999 and d, w, m or y, as 30d').meta({
  description:
    'How long before a certificate expires it notifies: 1 to 9999 days, weeks, months or years, as `30d`, `2w`, `6m`, `1y`. Kept, and without effect, for other events.',
});
const filters = z
  .array(Filter)
  .max(MAX_FILTERS)
  .meta({ description: `Which certificates of the project: those that pass all of up to ${MAX_FILTERS} filters.` });

/** What decides of which certificates an alert notifies. */
export const CONTENT = { eventType, alertBefore, filters } as const;

const dailyReminder = z.boolean().meta({
  description:
    'Whether it notifies of a certificate every day, UTC, until that is renewed, revoked or expired; else once. Only of expiry.',
});

/** Of other events there is nothing to remind of. */
const refuseReminder = (given: object, issues: z.core.$RefinementCtx): void => {
  const { eventType: event, dailyReminder: isDaily } = given as Readonly<Record<string, unknown>>;
  if (isDaily === true && event !== undefined && event !== 'expiration' && eventType.safeParse(event).success)
    issues.addIssue({
      code: 'custom',
      path: ['dailyReminder'],
      message: 'must be false but for the event expiration',
      params: { code: 'INVALID' },
    });
};

/** Inputs of new and changed alerts. Source: specification 11 and 12, decisions 7. */
export function alertRules(mayCall: MayCall) {
  const { configs, newChannels, changedChannels } = channelRules(mayCall);
  return {
    configs,
    create: z
      .strictObject({
        projectId,
        name,
        description,
        eventType: notifiedEvent,
        alertBefore,
        filters,
        channels: newChannels.meta({ description: 'How it notifies: 1 to 10 channels.' }),
        enabled: z.boolean().default(true).meta({ description: 'Whether it notifies.' }),
        dailyReminder: dailyReminder.default(false),
      })
      .superRefine(refuseReminder, EVEN_IF_FAULTY)
      .meta({ description: 'A new certificate alert.' }),
    update: z
      .strictObject({
        id,
        expectedVersion,
        name: name.optional(),
        description,
        eventType: notifiedEvent.optional(),
        alertBefore: alertBefore.optional(),
        filters: filters.optional(),
        channels: changedChannels.optional().meta({
          description:
            'All its channels, 1 to 10, in their order: one that is named by its id stays, and others of before are deleted.',
        }),
        enabled: z.boolean().optional().meta({ description: 'Whether it notifies.' }),
        dailyReminder: dailyReminder.optional().meta({
          description: 'Whether it notifies every day; of other events than expiration it is false.',
        }),
      })
      .superRefine(refuseReminder, EVEN_IF_FAULTY)
      .meta({ description: 'Changes of a certificate alert. What is absent stays.' }),
  };
}
export type AlertRules = ReturnType<typeof alertRules>;

/** Where webhooks may go to any host, and where only to hosts that are not private by their names. */
export const ANYWHERE = alertRules(() => true);
const PUBLIC_ONLY = alertRules((host) => !isPrivateHost(host));

/** The rules of an installation. They differ in what they refuse, and not in what they take. */
export const rulesFor = ({ allowPrivateTargets }: { readonly allowPrivateTargets: boolean }): AlertRules =>
  allowPrivateTargets ? ANYWHERE : PUBLIC_ONLY;

/** Input of `deleteCertificateAlert`, and arguments of `certificateAlert`. */
export const OneAlert = z.strictObject({ id }).meta({ description: 'Which certificate alert.' });

/** The order of alerts when none is asked for. */
export const NEWEST_FIRST: ListOrder = { field: 'CREATED_AT', direction: 'DESC' };

const searched = {
  search: storedText(255).nullish().meta({ description: 'Only those with this text in their name, in any case.' }),
  eventType: eventType.nullish().meta({ description: 'Only those of this event.' }),
  enabled: z.boolean().nullish().meta({ description: 'Only those that notify, or only those that do not.' }),
};

/** Of lists that can also be read by numbers of rows. */
export const offset = integer(0, 10_000)
  .nullish()
  .meta({ description: 'Leaves out this many rows first, 0 to 10,000.' });

/** Arguments of `Project.certificateAlertConnection`. */
export const AlertPage = z.strictObject({
  ...searched,
  ...pageRules,
  ...orderRulesOf('newest first, which is CREATED_AT DESC'),
});

/** Arguments of `certificateAlerts`. */
export const ListAlerts = AlertPage.extend({
  projectId,
  offset,
});
