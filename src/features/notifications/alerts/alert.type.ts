import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
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

@ObjectType('CertificateAlertFilter', { description: 'A filter on certificates.', simpleResolvers: true })
class FilterType {
  @Field(() => FilterFieldEnum, { description: 'Certificate property to compare.' })
  field!: AlertFilter['field'];

  @Field(() => FilterOperatorEnum, { description: 'Comparison operator.' })
  operator!: AlertFilter['operator'];

  @Field(() => String, { description: 'Value to compare with.' })
  value!: string;
}

/** An alert as the API shows it. */
@ObjectType('CertificateAlert', {
  implements: Node,
  description: 'Notifies channels of events of certificates in a project.',
  simpleResolvers: true,
})
export class AlertType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Name of the alert.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description of the alert. Null if it has none.' })
  description!: string | null;

  @Field(() => CertificateEventEnum, { description: 'Event that the alert notifies of.' })
  eventType!: EventType;

  @Field(() => String, {
    description:
      'How long before expiration the alert notifies, for example `30d`. Ignored if the event is not `EXPIRATION`.',
  })
  alertBefore!: string;

  @Field(() => [FilterType], { description: 'Filters that a certificate must match, all of them.' })
  filters!: readonly FilterType[];

  @Field(() => Boolean, { description: 'Whether the alert sends notifications.' })
  enabled!: boolean;

  @Field(() => Boolean, {
    description: 'Whether the alert repeats every day (UTC) until the certificate is renewed, revoked or expired.',
  })
  dailyReminder!: boolean;

  @Field(() => [AlertChannelType], { description: 'Notification channels, in the order given.' })
  channels!: readonly AlertChannelType[];

  @Field(() => Int, { description: 'Version of the alert. Increments with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the alert was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the alert was last changed.' })
  updatedAt!: Date;
}

export const AlertConnection = countedConnectionOf(AlertType, 'CertificateAlert', 'creation time, newest first');

/** Converts an alert to its GraphQL type. */
export const toAlertType = (alert: AlertView): AlertType => ({
  ...alert,
  channels: alert.channels.map(toChannelType),
});
