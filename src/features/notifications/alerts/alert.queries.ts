import { sql } from 'kysely';
import type { Context } from '../../../kernel/context.js';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import { CertificateAlertChannelSchema, CertificateAlertSchema } from './alert.entity.js';
import type { EventType } from './alert.rules.js';

/** Filters of a list of alerts. Null: no filter. */
export interface AlertFilters {
  readonly search: string | null;
  readonly eventType: EventType | null;
  readonly isEnabled: boolean | null;
}

const tables = tablesOf<typeof CertificateAlertSchema | typeof CertificateAlertChannelSchema>();

const alerts = tables
  .selectFrom('certificate_alert')
  .select(columnsOf(CertificateAlertSchema, 'isEnabled', 'isDailyReminder'))
  .select(['is_enabled as isEnabled', 'is_daily_reminder as hasDailyReminder']);

/** The search string is compared literally: it has no wildcards. */
const isAmong = ({ search, eventType, isEnabled }: AlertFilters) =>
  sql<boolean>`(${search}::text is null or position(lower(${search}::text) in lower(name)) > 0)
    and (${eventType}::text is null or event_type = ${eventType}::text)
    and (${isEnabled}::boolean is null or is_enabled = ${isEnabled}::boolean)`;

/** Alerts by ID, in any project. */
export const findAlerts = prepared(({ ids }: { ids: readonly string[] }) => alerts.where('id', '=', anyOf(ids)));

/** An alert as read from the database, without its channels. */
type AlertRow = Awaited<ReturnType<typeof findAlerts>>[number];

/** Alerts of projects, newest first. */
export const listAlertsOf = prepared(
  ({ projectIds, search, eventType, isEnabled }: AlertFilters & { projectIds: readonly string[] }) =>
    alerts
      .where('project_id', '=', anyOf(projectIds))
      .where(isAmong({ search, eventType, isEnabled }))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
);

const ORDER_COLUMNS = { id: 'id', name: 'name', createdAt: 'created_at', updatedAt: 'updated_at' };

/** Alerts of a project in the requested order, then by ID. Only the order by creation has an index. */
export const listAlertsInOrder = inOrders((shape) =>
  prepared((page: OrderedBounds & AlertFilters & { projectId: string; offset: number }) =>
    alerts
      .where('project_id', '=', page.projectId)
      .where(isAmong(page))
      .$call(pageInOrder(ORDER_COLUMNS, shape, page))
      .offset(page.offset),
  ),
);

/** Number of alerts of a project. */
export const countAlerts = prepared((wanted: AlertFilters & { projectId: string }) =>
  tables
    .selectFrom('certificate_alert')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('project_id', '=', wanted.projectId)
    .where(isAmong(wanted)),
);

const channels = tables
  .selectFrom('certificate_alert_channel')
  .select(columnsOf(CertificateAlertChannelSchema, 'organizationId', 'isEnabled'))
  .select('is_enabled as isEnabled');

/** Channels of alerts, by position. */
export const listChannels = prepared(({ alertIds }: { alertIds: readonly string[] }) =>
  channels.where('alert_id', '=', anyOf(alertIds)).orderBy('alert_id').orderBy('position'),
);

/** Channels by ID, of any alert. */
export const findChannels = prepared(({ ids }: { ids: readonly string[] }) => channels.where('id', '=', anyOf(ids)));

/** A channel as read from the database. */
export type ChannelRow = Awaited<ReturnType<typeof listChannels>>[number];

/** An alert as services return it. */
export interface AlertView extends AlertRow {
  readonly channels: readonly ChannelRow[];
}

/** Adds the channels of alerts. Their configs stay sealed. */
export async function withChannels(ctx: Context, alerts: readonly AlertRow[]): Promise<AlertView[]> {
  const alertIds = alerts.map(({ id }) => id);
  const channels = Map.groupBy(
    alertIds.length === 0 ? [] : await listChannels(ctx, { alertIds }),
    (row) => row.alertId,
  );
  return alerts.map((alert) => ({ ...alert, channels: channels.get(alert.id) ?? [] }));
}

/** Alerts by ID, in any project. */
export const findAlertViews = async (ctx: Context, params: { readonly ids: readonly string[] }): Promise<AlertView[]> =>
  withChannels(ctx, await findAlerts(ctx, params));

/** All alerts of projects, newest first. */
export const listAlertViews = async (
  ctx: Context,
  { projectIds }: { readonly projectIds: readonly string[] },
): Promise<AlertView[]> => withChannels(ctx, await listAlertsOf(ctx, { projectIds, ...alertFilters({}) }));

/** Filters as requested. */
interface FilterRequest {
  readonly search?: string | null | undefined;
  readonly eventType?: EventType | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
}

/** Absent means no filter. */
export const alertFilters = ({ search, eventType, isEnabled }: FilterRequest): AlertFilters => ({
  search: search || null,
  eventType: eventType ?? null,
  isEnabled: isEnabled ?? null,
});
