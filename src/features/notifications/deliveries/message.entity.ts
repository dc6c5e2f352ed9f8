import { defineEntity, p } from '@mikro-orm/core';
import type { ChannelType } from '../sending/public.js';

/** State of a message. `failed`, `cancelled`: given up until a check finds that it is still needed, or somebody retries it. */
export const MESSAGE_STATES = ['pending', 'sent', 'failed', 'cancelled'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export const NotificationMessageSchema = defineEntity({
  name: 'NotificationMessage',
  tableName: 'notification_message',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid().nullable(),
    source: p.text(),
    ownerId: p.uuid(),
    channelId: p.uuid(),
    channelType: p.text().$type<ChannelType>(),
    recipient: p.blob(),
    event: p.text(),
    state: p.text().$type<MessageState>().default('pending'),
    attempts: p.integer().default(0),
    nextAt: p.datetime(3).nullable(),
    giveUpAt: p.datetime(3),
    errorCode: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    foundAt: p.datetime(3).defaultRaw('now()'),
    endedAt: p.datetime(3).nullable(),
  },
});

/**
 * A notification to one recipient of one channel. Receivers know it by its ID. `source` is the slice that knows the channel and renders
 * the content; `ownerId` is its alert, project or organization. An email message with an empty recipient is for all recipients of a
 * channel that could not be decrypted. `foundAt` is when a check last found it, or somebody retried it.
 */
export class NotificationMessage extends NotificationMessageSchema.class {}
NotificationMessageSchema.setClass(NotificationMessage);

export const NotificationDeliverySchema = defineEntity({
  name: 'NotificationDelivery',
  tableName: 'notification_delivery',
  uniques: [
    {
      name: 'notification_delivery_key',
      properties: ['ownerId', 'subjectId', 'event', 'channelId', 'recipient', 'occurrence'],
    },
  ],
  properties: {
    messageId: p.uuid().primary(),
    subjectId: p.uuid().primary(),
    ownerId: p.uuid(),
    channelId: p.uuid(),
    recipient: p.blob(),
    event: p.text(),
    occurrence: p.text().default(''),
  },
});

/** One subject of a message, such as a certificate. Its key prevents duplicate notifications of the same event. */
export class NotificationDelivery extends NotificationDeliverySchema.class {}
NotificationDeliverySchema.setClass(NotificationDelivery);
