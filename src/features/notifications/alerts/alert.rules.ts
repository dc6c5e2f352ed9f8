import * as z from 'zod';
import { compileGlob } from '../../../kernel/authz/glob.js';
import { type ListOrder, orderRulesOf } from '../../../kernel/list-order.js';
import { isPrivateHost } from '../../../kernel/outbound/target-addresses.js';
import { FOR_REST_ALONE, pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { expectedVersion, idOf, integer, storedText } from '../../../kernel/value-rules.js';
import { channelRules, type MayCall } from './channel.rules.js';

/** Certificate properties that filters compare. */
export const FILTER_FIELDS = ['profile_name', 'common_name', 'san', 'include_cas'] as const;
/** Comparison operators of filters. */
export const FILTER_OPERATORS = ['equals', 'not_equals', 'contains', 'starts_with', 'ends_with', 'matches'] as const;

type FilterOperator = (typeof FILTER_OPERATORS)[number];

export const filterField = z.enum(FILTER_FIELDS);
export const filterOperator = z.enum(FILTER_OPERATORS);

/** Glob patterns like those in role rules, but case-insensitive. */
const patternOf = (value: string) => compileGlob(value.toLowerCase());

/** One filter of an alert. Field, operator and value are validated together. */
export const Filter = z
  .strictObject({
    field: filterField.meta({ description: 'Certificate property to compare.' }),
    operator: filterOperator.meta({ description: 'Comparison operator. `include_cas` allows only `equals`.' }),
    value: storedText(255).min(1).meta({
      description:
        'Value to compare with, 1 to 255 characters. A glob pattern for `matches`; `true` or `false` for `include_cas`.',
    }),
  })
  // Runs on invalid input too: any field may be missing or of any type.
  .superRefine(({ field, operator, value }: Readonly<Record<string, unknown>>, issues) => {
    const refuse = (key: string, message: string, code: string): void =>
      issues.addIssue({ code: 'custom', path: [key], message, params: { code } });
    if (field === 'include_cas') {
      if ((FILTER_OPERATORS as readonly unknown[]).includes(operator) && operator !== 'equals')
        refuse('operator', 'must be equals', 'INVALID_VALUE');
      if (typeof value === 'string' && value !== '' && value !== 'true' && value !== 'false')
        refuse('value', 'must be true or false', 'INVALID_VALUE');
    } else if (operator === 'matches' && typeof value === 'string' && value.length > 0 && value.length <= 255) {
      const pattern = patternOf(value);
      if (typeof pattern === 'string') refuse('value', pattern, 'INVALID');
    }
  }, EVEN_IF_INVALID)
  .meta({ description: 'A filter on certificates.' });
export type AlertFilter = z.output<typeof Filter>;

/** The properties of a certificate that filters compare. */
export interface FilteredCertificate {
  /** Null if the certificate was issued without a profile. */
  readonly profileName: string | null;
  readonly commonName: string;
  readonly sans: readonly string[];
  /** Whether it is the certificate of an authority. */
  readonly isCa: boolean;
}

/**
 * Whether a certificate matches all filters. If a certificate has several names, one must match; for `not_equals`, none may be equal.
 * `equals` and `not_equals` are case-sensitive, all other operators case-insensitive. Certificates of authorities match only if a filter
 * includes them and none excludes them.
 */
export function matchesFilters(filters: readonly AlertFilter[], certificate: FilteredCertificate): boolean {
  const includes = filters.filter(({ field }) => field === 'include_cas').map(({ value }) => value === 'true');
  if (certificate.isCa && (includes.length === 0 || includes.includes(false))) return false;
  return filters.every(
    (filter) => filter.field === 'include_cas' || matchesNames(filter, namesOf(filter, certificate)),
  );
}

function namesOf({ field }: AlertFilter, { profileName, commonName, sans }: FilteredCertificate): readonly string[] {
  if (field === 'san') return sans;
  if (field === 'common_name') return [commonName];
  return profileName === null ? [] : [profileName];
}

function matchesNames({ operator, value }: AlertFilter, names: readonly string[]): boolean {
  if (operator === 'not_equals') return !names.includes(value);
  const fits = TESTS[operator](value);
  return names.some(fits);
}

type Test = (name: string) => boolean;

const ignoringCase =
  (compare: (name: string, value: string) => boolean) =>
  (value: string): Test =>
  (name) =>
    compare(name.toLowerCase(), value.toLowerCase());

const TESTS: Readonly<Record<Exclude<FilterOperator, 'not_equals'>, (value: string) => Test>> = {
  equals: (value) => (name) => name === value,
  contains: ignoringCase((name, value) => name.includes(value)),
  starts_with: ignoringCase((name, value) => name.startsWith(value)),
  ends_with: ignoringCase((name, value) => name.endsWith(value)),
  matches: (value) => {
    const pattern = patternOf(value);
    return (name) => typeof pattern === 'function' && pattern(name.toLowerCase());
  },
};

/** Certificate events that alerts can notify of. */
const EVENT_TYPES = ['expiration', 'renewal', 'issuance', 'revocation'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const eventType = z.enum(EVENT_TYPES);

/** A whole number and a unit, for example `30d`: 1 to 9999 days, weeks, calendar months or calendar years. */
export const ALERT_BEFORE = /^[1-9]\d{0,3}[dwmy]$/;

const MAX_FILTERS = 50;

const projectId = idOf('ID of the project. It must be of type `cert-manager`.');
const id = idOf('certificate alert');

const name = storedText(255).min(1).meta({ description: 'Name of the alert, 1 to 255 characters.' });
const description = storedText(1_000)
  .nullish()
  .meta({ description: 'Description of the alert, up to 1,000 characters.' });
const notifiedEvent = eventType.meta({ description: 'Event that the alert notifies of.' });
const alertBefore = z
  .string()
  .regex(ALERT_BEFORE, 'must be a number from 1 to 9999 followed by d, w, m or y, for example 30d')
  .meta({
    description:
      'How long before expiration the alert notifies: a number from 1 to 9999 and a unit (`d` days, `w` weeks, `m` months, `y` years), for example `30d`. Stored but ignored if the event is not expiration.',
  });
const filters = z
  .array(Filter)
  .max(MAX_FILTERS)
  .meta({
    description: `Filters that a certificate must match, all of them. At most ${MAX_FILTERS}; an empty list matches every certificate except those of certificate authorities.`,
  });

/** The fields that decide which certificates an alert notifies of. */
export const CONTENT = { eventType, alertBefore, filters } as const;

const hasDailyReminder = z.boolean().meta({
  description:
    'Whether the alert repeats every day (UTC) until the certificate is renewed, revoked or expired. If false, it notifies once. Only for the event expiration.',
});

/** Only expiration is an ongoing state that can be repeated daily. */
const refuseReminder = (given: object, issues: z.core.$RefinementCtx): void => {
  const { eventType: event, hasDailyReminder: isDaily } = given as Readonly<Record<string, unknown>>;
  if (isDaily === true && event !== undefined && event !== 'expiration' && eventType.safeParse(event).success)
    issues.addIssue({
      code: 'custom',
      path: ['hasDailyReminder'],
      message: 'must be false unless the event is expiration',
      params: { code: 'INVALID' },
    });
};

/** Inputs that create and update alerts (operations 11 and 12). */
function alertRules(mayCall: MayCall) {
  const { configs, newChannels, changedChannels } = channelRules(mayCall, {});
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
        channels: newChannels.meta({ description: 'Notification channels, 1 to 10.' }),
        isEnabled: z.boolean().default(true).meta({ description: 'Whether the alert sends notifications.' }),
        hasDailyReminder: hasDailyReminder.default(false),
      })
      .superRefine(refuseReminder, EVEN_IF_INVALID)
      .meta({ description: 'Fields of the new certificate alert.' }),
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
            'All channels of the alert, 1 to 10, in order. A channel with the `id` of an existing one updates it; existing channels that are not listed are deleted.',
        }),
        isEnabled: z.boolean().optional().meta({ description: 'Whether the alert sends notifications.' }),
        hasDailyReminder: hasDailyReminder.optional().meta({
          description:
            'Whether the alert repeats every day (UTC). Set to false automatically if the event changes from expiration.',
        }),
      })
      .superRefine(refuseReminder, EVEN_IF_INVALID)
      .meta({ description: 'Fields of the certificate alert to change. Absent fields keep their value.' }),
  };
}
export type AlertRules = ReturnType<typeof alertRules>;

/** Rules for installations that allow webhooks to any host, and for those that refuse hosts with private names. */
export const ANYWHERE = alertRules(() => true);
const PUBLIC_ONLY = alertRules((host) => !isPrivateHost(host));

/** The rules of an installation. They accept the same fields and differ only in the hosts that they refuse. */
export const rulesFor = ({ allowPrivateTargets }: { readonly allowPrivateTargets: boolean }): AlertRules =>
  allowPrivateTargets ? ANYWHERE : PUBLIC_ONLY;

/** Input of `deleteCertificateAlert` and arguments of `certificateAlert`. */
export const OneAlert = z.strictObject({ id }).meta({ description: 'The certificate alert, by ID.' });

/** The default order of alerts. */
export const NEWEST_FIRST: ListOrder = { field: 'CREATED_AT', direction: 'DESC' };

const searched = {
  search: storedText(255)
    .nullish()
    .meta({ description: 'Only alerts whose name contains this string, case-insensitive.' }),
  eventType: eventType.nullish().meta({ description: 'Only alerts of this event.' }),
  isEnabled: z.boolean().nullish().meta({ description: 'Only enabled alerts (true) or only disabled alerts (false).' }),
};

/** Of lists that can also be paged by offset. */
export const offset = integer(0, 10_000)
  .nullish()
  .meta({ description: 'Number of items to skip, 0 to 10,000.' })
  .register(FOR_REST_ALONE, {});

/** Arguments of `Project.certificateAlerts`. */
export const AlertPage = z.strictObject({
  ...searched,
  ...pageRules,
  ...orderRulesOf('newest first'),
});

/** Arguments of `certificateAlerts`. */
export const ListAlerts = AlertPage.extend({
  projectId,
  offset,
});
