import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { ProjectType } from '../../projects/public.js';
import { CertificateAlert } from './alert.entity.js';
import type { AlertView } from './alert.queries.js';
import {
  type AlertFilter,
  AlertPage,
  ANYWHERE,
  type EventType,
  eventType,
  Filter,
  filterField,
  filterOperator,
  ListAlerts,
  OneAlert,
} from './alert.rules.js';
import type { AlertService, ListedAlerts } from './alert.service.js';
import { AlertChannelType, comparedChannels, fromInput, toChannelType, withInput } from './channel.type.js';

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
    isEnabled: [Boolean, 'Whether the alert sends notifications.'],
    hasDailyReminder: [
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

export const AlertConnection = connectionOf(AlertType, 'CertificateAlert', 'creation time, newest first');

/** Converts an alert to its GraphQL type. */
export const toAlertType = (alert: AlertView): AlertType => ({
  ...alert,
  channels: alert.channels.map(toChannelType),
});

type Alerts = CountedConnectionOf<AlertType>;

@Resolver(() => AlertType)
export class AlertResolver {
  constructor(private readonly service: AlertService) {}

  @query(AlertConnection, ListAlerts, 'Certificate alerts of a project, newest first.')
  async certificateAlerts(ctx: Context, args: object): Promise<Alerts> {
    return shown(await this.service.list(ctx, args));
  }

  @query(AlertType, OneAlert, 'A certificate alert, by ID.')
  async certificateAlert(ctx: Context, args: object): Promise<AlertType> {
    return toAlertType(await this.service.get(ctx, args));
  }

  @creation(
    ANYWHERE.create,
    { certificateAlert: [AlertType, 'The created alert.'] },
    'Creates a certificate alert in a project of type `cert-manager`.',
    {
      find: (alerts: AlertResolver, ctx, { projectId, name }) =>
        oneNamed(ctx, CertificateAlert, { projectId, name }, (id) => alerts.certificateAlert(ctx, { id })),
      toRules: fromInput,
      compare: { channels: comparedChannels },
    },
  )
  async createCertificateAlert(ctx: Context, input: object): Promise<{ certificateAlert: AlertType }> {
    return { certificateAlert: toAlertType(await withInput(input, (given) => this.service.create(ctx, given))) };
  }

  @mutation(
    ANYWHERE.update,
    { certificateAlert: [AlertType, 'The updated alert.'] },
    'Updates a certificate alert, or enables or disables it.',
  )
  async updateCertificateAlert(ctx: Context, input: object): Promise<{ certificateAlert: AlertType }> {
    return { certificateAlert: toAlertType(await withInput(input, (given) => this.service.update(ctx, given))) };
  }

  @mutation(OneAlert, { certificateAlert: [AlertType, 'The deleted alert.'] }, 'Deletes a certificate alert.')
  async deleteCertificateAlert(ctx: Context, input: object): Promise<{ certificateAlert: AlertType }> {
    return { certificateAlert: toAlertType(await this.service.delete(ctx, input)) };
  }
}

const shown = (page: ListedAlerts): Alerts => page.show(toAlertType);

const AlertPageArgs = argsType(AlertPage);

@Resolver(() => ProjectType)
export class ProjectAlertsResolver {
  constructor(private readonly service: AlertService) {}

  @nested(
    AlertConnection,
    'Certificate alerts of the project, newest first. Null, with PERMISSION_DENIED, if you cannot read them.',
    AlertPageArgs,
  )
  async certificateAlerts({ access }: ProjectType, ctx: Context, page: object): Promise<Alerts> {
    return shown(await this.service.listInProject(ctx, access, page));
  }
}
