import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { type EventType, eventType } from './alert.rules.js';
import type { AlertView } from './alert.view.js';
import { AlertChannelType, toChannelType } from './channel.type.js';
import { type AlertFilter, Filter, filterField, filterOperator } from './filter.rules.js';

/** GraphQL's names of events. */
export const CertificateEventEnum = {
  EXPIRATION: 'expiration',
  RENEWAL: 'renewal',
  ISSUANCE: 'issuance',
  REVOCATION: 'revocation',
} as const satisfies Record<string, EventType>;
registerEnumType(CertificateEventEnum, {
  name: 'CertificateEventType',
  description: 'What happens to certificates.',
  valuesConfig: {
    EXPIRATION: { description: 'It expires soon.' },
    RENEWAL: { description: 'It was renewed.' },
    ISSUANCE: { description: 'It was issued.' },
    REVOCATION: { description: 'It was revoked.' },
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
  description: 'What a filter looks at.',
  valuesConfig: {
    PROFILE_NAME: { description: 'Slug of the profile that the certificate was issued by.' },
    COMMON_NAME: { description: 'Common name of the subject.' },
    SAN: { description: 'Alternative names of the subject, of which one has to match.' },
    INCLUDE_CAS: { description: 'Whether certificates of authorities match as well, `true` or `false`.' },
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
  description: 'How a filter compares.',
  valuesConfig: {
    EQUALS: { description: 'It is the value, in the same case.' },
    NOT_EQUALS: { description: 'It is not the value; of alternative names, none is.' },
    CONTAINS: { description: 'The value is in it, in any case.' },
    STARTS_WITH: { description: 'It starts with the value, in any case.' },
    ENDS_WITH: { description: 'It ends with the value, in any case.' },
    MATCHES: { description: 'It matches the value as a glob, in any case.' },
  },
});
enumOfRule(filterOperator, FilterOperatorEnum);

inputType('CertificateAlertFilterInput', Filter);

@ObjectType('CertificateAlertFilter', { description: 'A condition on certificates.', simpleResolvers: true })
class FilterType {
  @Field(() => FilterFieldEnum, { description: 'What it looks at.' })
  field!: AlertFilter['field'];

  @Field(() => FilterOperatorEnum, { description: 'How it compares that.' })
  operator!: AlertFilter['operator'];

  @Field(() => String, { description: 'What it compares that with.' })
  value!: string;
}

/** What the API shows of an alert. Source: specification, Certificate alert. */
@ObjectType('CertificateAlert', {
  implements: Node,
  description: 'A rule that notifies of events of certificates of one project.',
  simpleResolvers: true,
})
export class AlertType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for; null if nobody said.' })
  description!: string | null;

  @Field(() => CertificateEventEnum, { description: 'Which event it notifies of.' })
  eventType!: EventType;

  @Field(() => String, {
    description: 'How long before a certificate expires it notifies, as `30d`. Without effect for other events.',
  })
  alertBefore!: string;

  @Field(() => [FilterType], { description: 'Which certificates: those that pass all of them.' })
  filters!: readonly FilterType[];

  @Field(() => Boolean, { description: 'Whether it notifies.' })
  enabled!: boolean;

  @Field(() => Boolean, { description: 'Whether it notifies of a certificate every day until it is dealt with.' })
  dailyReminder!: boolean;

  @Field(() => [AlertChannelType], { description: 'How it notifies, in the order given.' })
  channels!: readonly AlertChannelType[];

  @Field(() => Int, { description: 'Rises with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const AlertConnection = countedConnectionOf(AlertType, 'CertificateAlert', 'when they were made, newest first');

/** An alert as the API shows it. */
export const toAlertType = (alert: AlertView): AlertType => ({
  ...alert,
  channels: alert.channels.map(toChannelType),
});
