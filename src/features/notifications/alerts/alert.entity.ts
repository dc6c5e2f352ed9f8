import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';
import type { ChannelType } from '../sending/public.js';
import type { AlertFilter, EventType } from './alert.rules.js';

export const CertificateAlertSchema = defineEntity({
  name: 'CertificateAlert',
  tableName: 'certificate_alert',
  properties: {
    ...projectColumns,
    name: p.text(),
    description: p.text().nullable(),
    eventType: p.text().$type<EventType>(),
    alertBefore: p.text(),
    filters: p.json<readonly AlertFilter[]>(),
    isEnabled: p.boolean().default(true),
    isDailyReminder: p.boolean().default(false),
    version: p.integer().default(1),
  },
});

/** Certificate events of a project and the channels that are notified of them. `version` increments with every change. */
export class CertificateAlert extends CertificateAlertSchema.class {}
CertificateAlertSchema.setClass(CertificateAlert);

/** Columns of the channels of alerts of any kind. */
export const channelColumns = {
  alertId: p.uuid(),
  position: p.integer(),
  channelType: p.text().$type<ChannelType>(),
  configSealed: p.blob(),
  configVersion: p.integer().default(1),
  isEnabled: p.boolean().default(true),
  testedAt: p.datetime(3).nullable(),
  testErrorCode: p.text().nullable(),
};

export const CertificateAlertChannelSchema = defineEntity({
  name: 'CertificateAlertChannel',
  tableName: 'certificate_alert_channel',
  properties: {
    ...projectColumns,
    ...channelColumns,
  },
});

/** A notification channel of an alert. Its config is sealed for this row and `configVersion`. */
export class CertificateAlertChannel extends CertificateAlertChannelSchema.class {}
CertificateAlertChannelSchema.setClass(CertificateAlertChannel);
