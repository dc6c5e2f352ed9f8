import type { Context } from '../../../kernel/context.js';
import { sealedChannels } from '../alerts/public.js';
import { type AlertRow, type ChannelRow, findAlerts, listChannels } from './identity-alert.queries.js';

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
