import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../kernel/database/columns.js';
import { channelColumns } from '../alerts/public.js';

export const IdentityAlertSchema = defineEntity({
  name: 'IdentityAlert',
  tableName: 'identity_alert',
  properties: {
    ...organizationColumns,
    projectId: p.uuid().nullable(),
    identityId: p.uuid(),
    name: p.text(),
    description: p.text().nullable(),
    alertBeforeDays: p.integer(),
    isDailyReminder: p.boolean().default(false),
    isEnabled: p.boolean().default(true),
    version: p.integer().default(1),
  },
});

/**
 * Who is notified before credentials of a machine identity expire. It belongs to a project, or without one to the organization.
 * `version` increments with every change.
 */
export class IdentityAlert extends IdentityAlertSchema.class {}
IdentityAlertSchema.setClass(IdentityAlert);

export const IdentityAlertChannelSchema = defineEntity({
  name: 'IdentityAlertChannel',
  tableName: 'identity_alert_channel',
  properties: {
    ...organizationColumns,
    projectId: p.uuid().nullable(),
    ...channelColumns,
    name: p.text().defaultRaw(`''::text`),
  },
});

/** A channel of such an alert. Its config is sealed for this row and `configVersion`, with the key of the project, or else of the organization. */
export class IdentityAlertChannel extends IdentityAlertChannelSchema.class {}
IdentityAlertChannelSchema.setClass(IdentityAlertChannel);
