import { ID, Int, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { IdentityType } from '../../identity/identities/public.js';
import {
  AlertChannelType,
  channelConfig,
  channelType,
  comparedChannels,
  fromInput,
  toChannelType,
  withInput,
} from '../alerts/public.js';
import { RETRIED_PAYLOAD, type RetriedCount, UndeliveredMessagesType, undeliveredOf } from '../deliveries/public.js';
import { IdentityAlert } from './identity-alert.entity.js';
import { type AlertView, CHANNEL_TABLE } from './identity-alert.queries.js';
import { ANYWHERE, ListAlerts, OneAlert, RetryMessages } from './identity-alert.rules.js';
import type { IdentityAlertService } from './identity-alert.service.js';

const IdentityAlertChannelType = objectType('IdentityAlertChannel', 'A named channel of an alert.', {
  name: [String, 'Name of the channel.'],
  channel: [AlertChannelType, 'Where and how the channel notifies.'],
});

/** What the API shows of an alert. */
export const IdentityAlertType = objectType(
  'IdentityAlert',
  'Notifies before client secrets and access tokens of a machine identity expire. It belongs to a project or to the organization.',
  {
    organizationId: [ID, 'ID of the organization.'],
    projectId: [orNull(ID), 'ID of the project; null for an alert of the organization.'],
    identityId: [ID, 'ID of the machine identity whose credentials are watched.'],
    name: [String, 'Name of the alert, unique among the alerts of the identity.'],
    description: [orNull(String), 'What the alert is for; null without a description.'],
    alertBefore: [String, 'How long before a credential expires the alert notifies: `1d` to `90d`, for example `30d`.'],
    hasDailyReminder: [
      Boolean,
      'Whether the alert notifies every day (UTC) until the credential expires or is revoked.',
    ],
    isEnabled: [Boolean, 'Whether the alert notifies.'],
    channels: [[IdentityAlertChannelType], 'The channels that the alert notifies, in their order.'],
    version: [Int, 'Version of the alert. Increments with every change.'],
    createdAt: [DateTime, 'When the alert was created.'],
    updatedAt: [DateTime, 'When the alert was last changed.'],
  },
  { implements: Node },
);
export type IdentityAlertType = InstanceType<typeof IdentityAlertType>;

export const IdentityAlertConnection = connectionOf(
  IdentityAlertType,
  'IdentityAlert',
  'when they were created, newest first',
);

/** An alert as the API shows it. */
export const toIdentityAlert = (alert: AlertView): IdentityAlertType => ({
  ...alert,
  channels: alert.channels.map((channel) => ({
    name: channel.name,
    channel: toChannelType({ ...channel, table: CHANNEL_TABLE }),
  })),
});

const isEnabled = z.boolean();
const name = z.string().meta({ description: 'Name of the channel, 1 to 255 characters.' });

const Channel = z
  .strictObject({
    name,
    config: channelConfig.meta({ description: 'Where and how the channel notifies.' }),
    isEnabled: isEnabled.default(true).meta({ description: 'Whether the channel notifies.' }),
  })
  .meta({ description: 'A channel of a new alert.' });

const ChannelChange = z
  .strictObject({
    id: idOf('ID of the existing channel; absent for a new one.').nullish(),
    name,
    channelType: channelType.meta({
      description: 'How the channel notifies. Another type than before needs a `config`.',
    }),
    config: channelConfig.nullish().meta({
      description: 'Where the channel notifies, for its `channelType`. Absent keeps the existing configuration.',
    }),
    isEnabled: isEnabled.nullish().meta({
      description: 'Whether the channel notifies. Absent keeps the existing setting; a new channel notifies.',
    }),
  })
  .meta({ description: 'A channel of a changed alert: an existing one, by ID, or a new one.' });

inputOfRule(ANYWHERE.create.shape.channels.element, inputType('IdentityAlertChannelInput', Channel));
inputOfRule(
  ANYWHERE.update.shape.channels.unwrap().element,
  inputType('IdentityAlertChannelChangeInput', ChannelChange),
);

@Resolver(() => IdentityAlertType)
export class IdentityAlertResolver {
  constructor(private readonly service: IdentityAlertService) {}

  @query(
    IdentityAlertConnection,
    ListAlerts,
    'Alerts of the expiry of credentials of machine identities, newest first: those of a project, or of the organization itself.',
  )
  async identityAlerts(ctx: Context, args: object): Promise<CountedConnectionOf<IdentityAlertType>> {
    const page = await this.service.list(ctx, args);
    return page.show(toIdentityAlert);
  }

  @query(IdentityAlertType, OneAlert, 'One alert of the expiry of credentials of a machine identity.')
  async identityAlert(ctx: Context, args: object): Promise<IdentityAlertType> {
    return toIdentityAlert(await this.service.get(ctx, args));
  }

  @creation(
    ANYWHERE.create,
    { identityAlert: [IdentityAlertType, 'The created alert.'] },
    'Creates an alert that notifies before credentials of a machine identity expire. Needs the rights to read and edit the identity.',
    {
      find: (alerts: IdentityAlertResolver, ctx, { identityId, projectId, name }) =>
        oneNamed(ctx, IdentityAlert, { identityId, projectId: projectId ?? null, name }, (id) =>
          alerts.identityAlert(ctx, { id }),
        ),
      taken: 'IDENTITY_ALERT_NAME_TAKEN',
      toRules: fromInput,
      compare: {
        channels: {
          of: ({ channels }) => comparedChannels.of({ channels: channels.map(({ channel }) => channel) }),
          as: comparedChannels.as,
        },
      },
    },
  )
  async createIdentityAlert(ctx: Context, input: object): Promise<{ identityAlert: IdentityAlertType }> {
    return { identityAlert: toIdentityAlert(await withInput(input, (given) => this.service.create(ctx, given))) };
  }

  @mutation(
    ANYWHERE.update,
    { identityAlert: [IdentityAlertType, 'The updated alert.'] },
    'Changes an alert of a machine identity. Needs the rights to read and edit the identity.',
  )
  async updateIdentityAlert(ctx: Context, input: object): Promise<{ identityAlert: IdentityAlertType }> {
    return { identityAlert: toIdentityAlert(await withInput(input, (given) => this.service.update(ctx, given))) };
  }

  @mutation(
    OneAlert,
    { identityAlert: [IdentityAlertType, 'The deleted alert.'] },
    'Deletes an alert of a machine identity. Needs the rights to read and edit the identity.',
  )
  async deleteIdentityAlert(ctx: Context, input: object): Promise<{ identityAlert: IdentityAlertType }> {
    return { identityAlert: toIdentityAlert(await this.service.delete(ctx, input)) };
  }

  @mutation(
    RetryMessages,
    RETRIED_PAYLOAD,
    'Retries failed and cancelled messages of an alert of a machine identity. Needs the rights to read and edit the identity.',
  )
  async retryIdentityAlertMessages(ctx: Context, input: object): Promise<{ retried: RetriedCount }> {
    return { retried: await this.service.retryMessages(ctx, input) };
  }
}

@Resolver(() => IdentityType)
export class IdentityAlertsOfIdentityResolver {
  constructor(private readonly service: IdentityAlertService) {}

  @nested([IdentityAlertType], 'Alerts of the expiry of its credentials that you may read, newest first.')
  async alerts({ id }: IdentityType, ctx: Context): Promise<readonly IdentityAlertType[]> {
    return (await this.service.listOfIdentity(ctx, id)).map(toIdentityAlert);
  }
}

@Resolver(() => IdentityAlertType)
export class UndeliveredResolver {
  @nested(UndeliveredMessagesType, 'Messages about credentials that nobody was notified of. Null if there are none.')
  undelivered({ id }: IdentityAlertType, ctx: Context): Promise<UndeliveredMessagesType | null> {
    return undeliveredOf(ctx, id);
  }
}
