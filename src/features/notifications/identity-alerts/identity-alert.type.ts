import { ID, Int } from 'type-graphql';
import * as z from 'zod';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { idOf } from '../../../kernel/text-rules.js';
import { AlertChannelType, channelConfig, channelType, toChannelType } from '../alerts/public.js';
import { type AlertView, CHANNEL_TABLE } from './identity-alert.queries.js';
import { ANYWHERE } from './identity-alert.rules.js';

export const IdentityAlertChannelType = objectType('IdentityAlertChannel', 'A named channel of an alert.', {
  name: [String, 'Name of the channel.'],
  channel: [AlertChannelType, 'Where and how the channel notifies.'],
});
export type IdentityAlertChannelType = InstanceType<typeof IdentityAlertChannelType>;

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
    dailyReminder: [Boolean, 'Whether the alert notifies every day (UTC) until the credential expires or is revoked.'],
    enabled: [Boolean, 'Whether the alert notifies.'],
    channels: [[IdentityAlertChannelType], 'The channels that the alert notifies, in their order.'],
    version: [Int, 'Version of the alert. Increments with every change.'],
    createdAt: [DateTime, 'When the alert was created.'],
    updatedAt: [DateTime, 'When the alert was last changed.'],
  },
  { implements: Node },
);
export type IdentityAlertType = InstanceType<typeof IdentityAlertType>;

export const IdentityAlertConnection = countedConnectionOf(
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

const enabled = z.boolean();
const name = z.string().meta({ description: 'Name of the channel, 1 to 255 characters.' });

const Channel = z
  .strictObject({
    name,
    config: channelConfig.meta({ description: 'Where and how the channel notifies.' }),
    enabled: enabled.default(true).meta({ description: 'Whether the channel notifies.' }),
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
    enabled: enabled.nullish().meta({
      description: 'Whether the channel notifies. Absent keeps the existing setting; a new channel notifies.',
    }),
  })
  .meta({ description: 'A channel of a changed alert: an existing one, by ID, or a new one.' });

inputOfRule(ANYWHERE.create.shape.channels.element, inputType('IdentityAlertChannelInput', Channel));
inputOfRule(
  ANYWHERE.update.shape.channels.unwrap().element,
  inputType('IdentityAlertChannelChangeInput', ChannelChange),
);
