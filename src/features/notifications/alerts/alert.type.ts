import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { AlertView } from './alert.queries.js';
import { type AlertFilter, type EventType, eventType, Filter, filterField, filterOperator } from './alert.rules.js';
import { AlertChannelType, toChannelType } from './channel.type.js';

/** Names of events in GraphQL. */
export const CertificateEventEnum = enumType<EventType>(
  'CertificateEventType',
  'Events of certificates.',
  {
    expiration: 'The certificate will expire within `alertBefore`.',
    renewal: 'The certificate was renewed.',
    issuance: 'The certificate was issued.',
    revocation: 'The certificate was revoked.',
  },
  eventType,
);

const FilterFieldEnum = enumType<AlertFilter['field']>(
  'CertificateAlertFilterField',
  'Certificate properties that a filter can match.',
  {
    profile_name: 'Slug of the certificate profile that issued the certificate.',
    common_name: 'Common name (CN) of the subject.',
    san: 'Subject alternative names. At least one must match.',
    include_cas: 'Whether certificates of certificate authorities are included: `true` or `false`.',
  },
  filterField,
);

const FilterOperatorEnum = enumType<AlertFilter['operator']>(
  'CertificateAlertFilterOperator',
  'Comparison operators of filters.',
  {
    equals: 'Equal to the value, case-sensitive.',
    not_equals: 'Not equal to the value, case-sensitive. With `SAN`, no alternative name may equal it.',
    contains: 'Contains the value, case-insensitive.',
    starts_with: 'Starts with the value, case-insensitive.',
    ends_with: 'Ends with the value, case-insensitive.',
    matches: 'Matches the value as a glob pattern, for example `*.example.com`, case-insensitive.',
  },
  filterOperator,
);

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
