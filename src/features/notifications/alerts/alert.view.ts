import type { Context } from '../../../kernel/context.js';
import type { ListOrder, Orderable, OrderedRequest } from '../../../kernel/list-order.js';
import {
  type AlertFilters,
  type AlertRow,
  type ChannelRow,
  findAlerts,
  listAlertsOf,
  listChannels,
} from './alert.queries.js';
import { type EventType, NEWEST_FIRST } from './alert.rules.js';

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
  readonly enabled?: boolean | null | undefined;
}

/** Absent means no filter. */
export const alertFilters = ({ search, eventType, enabled }: FilterRequest): AlertFilters => ({
  search: search || null,
  eventType: eventType ?? null,
  enabled: enabled ?? null,
});

/** The request with the default order of alerts if it has none. */
export const inAlertOrder = ({
  first,
  after,
  orderBy,
  updatedSince,
}: OrderedRequest): OrderedRequest & {
  readonly orderBy: ListOrder;
} => ({ first, after, orderBy: orderBy ?? NEWEST_FIRST, updatedSince });

export const toOrderable = (alert: AlertView): Orderable => alert;
