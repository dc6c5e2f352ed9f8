import { defineEntity, p } from '@mikro-orm/core';

/** How far a message is. `failed`: given up after three days, until somebody retries it. */
export const MESSAGE_STATES = ['pending', 'sent', 'failed', 'cancelled'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

const AlertMessageSchema = defineEntity({
  name: 'AlertMessage',
  tableName: 'alert_message',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    alertId: p.uuid(),
    channelId: p.uuid(),
    channelType: p.text(),
    recipient: p.blob(),
    event: p.text(),
    state: p.text().$type<MessageState>().default('pending'),
    attempts: p.integer().default(0),
    nextAt: p.datetime(3).nullable(),
    giveUpAt: p.datetime(3),
    errorCode: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    endedAt: p.datetime(3).nullable(),
  },
});

/** What an alert sends at once to one recipient of one channel. Its id is what receivers know it by. */
export class AlertMessage extends AlertMessageSchema.class {}
AlertMessageSchema.setClass(AlertMessage);

const AlertDeliverySchema = defineEntity({
  name: 'AlertDelivery',
  tableName: 'alert_delivery',
  uniques: [
    {
      name: 'alert_delivery_key',
      properties: ['alertId', 'certificateId', 'event', 'channelId', 'recipient', 'occurrence'],
    },
  ],
  properties: {
    messageId: p.uuid().primary(),
    certificateId: p.uuid().primary(),
    alertId: p.uuid(),
    channelId: p.uuid(),
    recipient: p.blob(),
    event: p.text(),
    occurrence: p.text().default(''),
  },
});

/** One certificate in a message: what makes sure that nobody is notified twice of one event. */
export class AlertDelivery extends AlertDeliverySchema.class {}
AlertDeliverySchema.setClass(AlertDelivery);
