import { ID, Int, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { type EventType, eventType } from './alert.rules.js';
import type { AlertView } from './alert.view.js';
import { AlertChannelType, toChannelType } from './channel.type.js';
import { type AlertFilter, Filter, filterField, filterOperator } from './filter.rules.js';

/** Names of events in GraphQL. */
export const CertificateEventEnum = {
  EXPIRATION: 'expiration',
  RENEWAL: 'renewal',
  ISSUANCE: 'issuance',
  REVOCATION: 'revocation',
} as const satisfies Record<string, EventType>;
registerEnumType(CertificateEventEnum, {
  name: 'CertificateEventType',
  description: 'Events of certificates.',
  valuesConfig: {
    EXPIRATION: { description: 'The certificate will expire within `alertBefore`.' },
    RENEWAL: { description: 'The certificate was renewed.' },
    ISSUANCE: { description: 'The certificate was issued.' },
    REVOCATION: { description: 'The certificate was revoked.' },
  },
});
enumOfRule(eventType, CertificateEventEnum);

const FilterFieldEnum = {
  PROFILE_NAME: 'profile_name',
  COMMON_NAME: 'common_name',
  SAN: 'san',
  INCLUDE_CAS: 'include_cas',
} as const satisfies Record<string, AlertFilter['field']>;
registerEnumType(FilterFieldEnum, {
  name: 'CertificateAlertFilterField',
  description: 'Certificate properties that a filter can match.',
  valuesConfig: {
    PROFILE_NAME: { description: 'Slug of the certificate profile that issued the certificate.' },
    COMMON_NAME: { description: 'Common name (CN) of the subject.' },
    SAN: { description: 'Subject alternative names. At least one must match.' },
    INCLUDE_CAS: { description: 'Whether certificates of certificate authorities are included: `true` or `false`.' },
  },
});
enumOfRule(filterField, FilterFieldEnum);

const FilterOperatorEnum = {
  EQUALS: 'equals',
  NOT_EQUALS: 'not_equals',
  CONTAINS: 'contains',
  STARTS_WITH: 'starts_with',
  ENDS_WITH: 'ends_with',
  MATCHES: 'matches',
} as const satisfies Record<string, AlertFilter['operator']>;
registerEnumType(FilterOperatorEnum, {
  name: 'CertificateAlertFilterOperator',
  description: 'Comparison operators of filters.',
  valuesConfig: {
    EQUALS: { description: 'Equal to the value, case-sensitive.' },
    NOT_EQUALS: {
      description: 'Not equal to the value, case-sensitive. With `SAN`, no alternative name may equal it.',
    },
    CONTAINS: { description: 'Contains the value, case-insensitive.' },
    STARTS_WITH: { description: 'Starts with the value, case-insensitive.' },
    ENDS_WITH: { description: 'Ends with the value, case-insensitive.' },
    MATCHES: { description: 'Matches the value as a glob pattern, for example `*.example.com`, case-insensitive.' },
  },
});
enumOfRule(filterOperator, FilterOperatorEnum);

inputType('CertificateAlertFilterInput', Filter);

const FilterType = objectType('CertificateAlertFilter', 'A filter on certificates.', {
  field: [FilterFieldEnum, 'Certificate property to compare.'],
  operator: [FilterOperatorEnum, 'Comparison operator.'],
  value: [String, 'Value to compare with.'],
});

/** An alert as the API shows it. */
export const AlertType = objectType(
  'CertificateAlert',
  'Notifies channels of events of certificates in a project.',
  {
    projectId: [ID, 'ID of the project.'],
    name: [String, 'Name of the alert.'],
    description: [orNull(String), 'Description of the alert. Null if it has none.'],
    eventType: [CertificateEventEnum, 'Event that the alert notifies of.'],
    alertBefore: [
      String,
      'How long before expiration the alert notifies, for example `30d`. Ignored if the event is not `EXPIRATION`.',
    ],
    filters: [[FilterType], 'Filters that a certificate must match, all of them.'],
    enabled: [Boolean, 'Whether the alert sends notifications.'],
    dailyReminder: [
      Boolean,
      'Whether the alert repeats every day (UTC) until the certificate is renewed, revoked or expired.',
    ],
    channels: [[AlertChannelType], 'Notification channels, in the order given.'],
    version: [Int, 'Version of the alert. Increments with every change.'],
    createdAt: [DateTime, 'When the alert was created.'],
    updatedAt: [DateTime, 'When the alert was last changed.'],
  },
  { implements: Node },
);
export type AlertType = InstanceType<typeof AlertType>;

export const AlertConnection = countedConnectionOf(AlertType, 'CertificateAlert', 'creation time, newest first');

/** Converts an alert to its GraphQL type. */
export const toAlertType = (alert: AlertView): AlertType => ({
  ...alert,
  channels: alert.channels.map(toChannelType),
});
