import { sql } from 'kysely';
import type { Context } from '../../../kernel/context.js';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { IdentitySchema, OrganizationSchema } from '../../identity/organizations/public.js';
import type { ProjectSchema } from '../../projects/public.js';
import { sealedChannels } from '../alerts/public.js';
import { IdentityAlertChannelSchema, IdentityAlertSchema } from './identity-alert.entity.js';

type Alerts = typeof IdentityAlertSchema | typeof IdentityAlertChannelSchema;
type Owners = typeof IdentitySchema | typeof OrganizationSchema | typeof ProjectSchema;
const tables = tablesOf<Alerts | Owners>();

const alerts = tables
  .selectFrom('identity_alert')
  .select(columnsOf(IdentityAlertSchema, 'alertBeforeDays', 'isDailyReminder', 'isEnabled'))
  .select([sql<string>`alert_before_days || 'd'`.as('alertBefore'), 'is_daily_reminder as hasDailyReminder'])
  .select('is_enabled as isEnabled');

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
  .select(columnsOf(IdentityAlertChannelSchema, 'organizationId', 'position', 'isEnabled'))
  .select('is_enabled as isEnabled');

/** Channels of alerts, in their order. */
export const listChannels = prepared(({ alertIds }: { alertIds: readonly string[] }) =>
  channels.where('alert_id', '=', anyOf(alertIds)).orderBy('alert_id').orderBy('position'),
);

/** A channel as it is read, its config sealed. */
type ChannelRow = Awaited<ReturnType<typeof listChannels>>[number];

/** A channel with its alert and its owner, for whoever sends; none when it was removed. */
export const findSender = prepared(({ channelId }: { channelId: string }) =>
  tables
    .selectFrom('identity_alert_channel as c')
    .innerJoin('identity_alert as a', 'a.id', 'c.alert_id')
    .innerJoin('identity as i', 'i.id', 'a.identity_id')
    .innerJoin('organization as o', 'o.id', 'c.organization_id')
    .leftJoin('project as p', 'p.id', 'c.project_id')
    .select(['c.id', 'c.organization_id as organizationId', 'c.project_id as projectId'])
    .select(['c.channel_type as channelType', 'c.config_sealed as configSealed', 'c.config_version as configVersion'])
    .select(sql<boolean>`c.is_enabled and a.is_enabled`.as('isEnabled'))
    .select(['a.id as alertId', 'a.name as alertName', sql<string>`a.alert_before_days || 'd'`.as('alertBefore')])
    .select(['i.id as identityId', 'i.name as identityName', sql<string>`coalesce(p.name, o.name)`.as('ownerName')])
    .where('c.id', '=', channelId),
);

/** An alert as services return it. */
export interface AlertView extends AlertRow {
  readonly channels: readonly ChannelRow[];
}

/** Alerts with their channels, whose configs stay sealed. */
export async function withChannels(ctx: Context, alerts: readonly AlertRow[]): Promise<AlertView[]> {
  const alertIds = alerts.map(({ id }) => id);
  const rows = alertIds.length === 0 ? [] : await listChannels(ctx, { alertIds });
  const channels = Map.groupBy(rows, ({ alertId }) => alertId);
  return alerts.map((alert) => ({ ...alert, channels: channels.get(alert.id) ?? [] }));
}

/** Alerts by their ids, of the organization of the caller and of its projects. */
export const findAlertViews = async (ctx: Context, ids: readonly string[]): Promise<AlertView[]> =>
  withChannels(ctx, await findAlerts(ctx, { organizationId: ctx.organizationId, ids }));

/** Where channels of these alerts are stored. */
export const CHANNEL_TABLE = 'identity_alert_channel';

/** Their configurations. */
export const SEALED_IDENTITY_ALERT_CHANNELS = sealedChannels(CHANNEL_TABLE);
