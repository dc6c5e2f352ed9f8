import type { Transaction } from '../../kernel/context.js';
import { ask } from '../../kernel/jobs/queue.js';
import { type EventType, listChannels } from '../alerts/public.js';
import { lockEnabledAlert, writeDeliveries } from './delivery.sql.js';
import { SEND } from './send.job-kind.js';
import { isBatched, targetsOf } from './targets.js';

/** How long a delivery is tried. Source: decisions 7.5. */
const GIVE_UP_SECONDS = 3 * 86_400;

/** An alert, and what it has to tell of which certificates. */
export interface Notice {
  readonly alertId: string;
  readonly event: EventType;
  readonly certificateIds: readonly string[];
  /** The day of a daily reminder. Absent: once and for all. */
  readonly occurrence?: string;
}

/**
 * Has an alert notify of certificates, in the transaction that found them: what it notified of before it leaves out. Sending begins
 * after the commit. A disabled alert notifies nobody.
 *
 * Source: decisions 7.5, reliability P7.
 */
export async function notify(
  tx: Transaction,
  { alertId, event, certificateIds, occurrence = '' }: Notice,
): Promise<void> {
  if (certificateIds.length === 0) return;
  const [alert] = await lockEnabledAlert(tx, { id: alertId });
  if (alert === undefined) return;
  const targets = await targetsOf(tx, await listChannels(tx, { alertIds: [alertId] }));
  const { organizationId, projectId } = alert;
  const written = await writeDeliveries(tx, {
    organizationId,
    projectId,
    alertId,
    event,
    occurrence,
    giveUpSeconds: GIVE_UP_SECONDS,
    channelIds: targets.map(({ channelId }) => channelId),
    types: targets.map(({ channelType }) => channelType),
    recipients: targets.map(({ recipient }) => recipient),
    batched: targets.map(({ channelType }) => isBatched(channelType)),
    certificateIds,
  });
  if (written.length === 0) return;
  await askToSend(
    tx,
    written.map(({ channelId }) => ({ channelId, organizationId, projectId })),
  );
  await tx.auditTrail.recordChange(tx, {
    action: 'certificate-alert:notify',
    projectId,
    facts: { alertId, event, count: certificateIds.length },
  });
}

/** Has channels send what waits for them. */
export const askToSend = (
  tx: Transaction,
  channels: readonly { readonly channelId: string; readonly organizationId: string; readonly projectId: string }[],
): Promise<void> =>
  ask(
    tx,
    SEND,
    channels.map(({ channelId, ...owner }) => ({ key: channelId, subjectId: channelId, ...owner })),
  );
