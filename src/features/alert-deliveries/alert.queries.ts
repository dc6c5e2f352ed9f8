import { sql } from 'kysely';
import { prepared, tablesOf } from '../../kernel/database/tables.js';
import type { CertificateAlertChannelSchema, CertificateAlertSchema } from '../alerts/public.js';
import type { ProjectSchema } from '../projects/public.js';

type Alerts = typeof CertificateAlertSchema | typeof CertificateAlertChannelSchema;
const tables = tablesOf<Alerts | typeof ProjectSchema>();
const alerts = tables
  .selectFrom('certificate_alert as a')
  .select(['a.id', 'a.organization_id as organizationId', 'a.project_id as projectId']);

/** Enabled alerts of all projects, by ID. */
export const listEnabledAlerts = prepared(({ after, most }: { after: string; most: number }) =>
  alerts.where('a.is_enabled', '=', true).where('a.id', '>', after).orderBy('a.id').limit(most),
);

/** An alert, unless it is deleted or disabled. `today`: the day of a daily reminder; null for an alert that notifies once. */
export const findAlertToCheck = prepared(({ id }: { id: string }) =>
  alerts
    .select(['a.event_type as eventType', 'a.alert_before as alertBefore', 'a.filters'])
    .select(
      sql<string | null>`case when a.is_daily_reminder then to_char(now() at time zone 'UTC', 'YYYY-MM-DD') end`.as(
        'today',
      ),
    )
    .where('a.id', '=', id)
    .where('a.is_enabled', '=', true),
);

/** Locks an alert against concurrent writes of its messages. No row if it is deleted or disabled. */
export const lockEnabledAlert = prepared(({ id }: { id: string }) =>
  alerts.where('a.id', '=', id).where('a.is_enabled', '=', true).forNoKeyUpdate(),
);

/** Locks the alert of a channel. No row if the channel is deleted. */
export const lockAlertOf = prepared(({ channelId }: { channelId: string }) =>
  alerts
    .where('a.id', '=', (of) =>
      of.selectFrom('certificate_alert_channel').select('alert_id').where('id', '=', channelId),
    )
    .forNoKeyUpdate(),
);

/** A channel with its alert and project, for sending; no row if it was deleted. */
export const findSender = prepared(({ channelId }: { channelId: string }) =>
  tables
    .selectFrom('certificate_alert_channel as c')
    .innerJoin('certificate_alert as a', 'a.id', 'c.alert_id')
    .innerJoin('project as p', 'p.id', 'c.project_id')
    .select(['c.id', 'c.organization_id as organizationId', 'c.project_id as projectId'])
    .select(['c.channel_type as channelType', 'c.config_sealed as configSealed', 'c.config_version as configVersion'])
    .select(sql<boolean>`c.is_enabled and a.is_enabled`.as('isEnabled'))
    .select(['a.id as alertId', 'a.name as alertName', 'a.alert_before as alertBefore', 'p.name as projectName'])
    .where('c.id', '=', channelId),
);
