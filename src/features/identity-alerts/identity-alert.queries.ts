import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { ChannelType } from '../notifications/public.js';
import type { IdentityAlertChannelSchema, IdentityAlertSchema } from './identity-alert.entity.js';

const tables = tablesOf<typeof IdentityAlertSchema | typeof IdentityAlertChannelSchema>();

const alerts = tables
  .selectFrom('identity_alert')
  .select([
    'id',
    'organization_id as organizationId',
    'project_id as projectId',
    'identity_id as identityId',
    'name',
    'description',
    sql<string>`alert_before_days || 'd'`.as('alertBefore'),
    'is_daily_reminder as dailyReminder',
    'is_enabled as enabled',
    'version',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

/** Alerts of an organization and of its projects. */
export const findAlerts = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  alerts.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** An alert as it is read, without its channels. */
export type AlertRow = Awaited<ReturnType<typeof findAlerts>>[number];

/** Alerts of a project, or without one of the organization itself, newest first; of one identity, or of all. */
export const listAlerts = prepared(
  (wanted: { organizationId: string; projectId: string | null; identityId: string | null }) =>
    alerts
      .where('organization_id', '=', wanted.organizationId)
      .where(sql<boolean>`project_id is not distinct from ${wanted.projectId}::uuid`)
      .where(sql<boolean>`(${wanted.identityId}::uuid is null or identity_id = ${wanted.identityId}::uuid)`)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
);

/** Alerts of identities, in the organization and its projects, newest first. */
export const listAlertsOf = prepared(
  ({ organizationId, identityIds }: { organizationId: string; identityIds: readonly string[] }) =>
    alerts
      .where('organization_id', '=', organizationId)
      .where('identity_id', '=', anyOf(identityIds))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
);

const channels = tables
  .selectFrom('identity_alert_channel')
  .select([
    'id',
    'project_id as projectId',
    'alert_id as alertId',
    'name',
    sql<ChannelType>`channel_type`.as('channelType'),
    'config_sealed as configSealed',
    'config_version as configVersion',
    'is_enabled as enabled',
    'tested_at as testedAt',
    'test_error_code as testErrorCode',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

/** Channels of alerts, in their order. */
export const listChannels = prepared(({ alertIds }: { alertIds: readonly string[] }) =>
  channels.where('alert_id', '=', anyOf(alertIds)).orderBy('alert_id').orderBy('position'),
);

/** A channel as it is read, its config sealed. */
export type ChannelRow = Awaited<ReturnType<typeof listChannels>>[number];
