import type { Transaction } from '../../kernel/context.js';
import { ask } from '../../kernel/jobs/queue.js';
import { type ChannelRow, type EventType, listChannels, openConfig } from '../alerts/public.js';
import { targetsOf } from '../notifications/public.js';
import { lockEnabledAlert, writeDeliveries } from './delivery.sql.js';
import { digestsOf, NOBODY } from './recipients.js';
import { SEND } from './send-kind.js';

/** How long a delivery is tried. Source: decisions 7.5. */
export const GIVE_UP_SECONDS = 3 * 86_400;
/** With a thousand certificates each: an alert may have a hundred targets, which is more than the database writes in the time of a statement. */
const TARGETS_AT_ONCE = 10;

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
  const channels = await listChannels(tx, { alertIds: [alertId] });
  const targets = await recipientsOf(
    tx,
    channels.filter(({ enabled }) => enabled),
  );
  const { organizationId, projectId } = alert;
  const written: { readonly channelId: string }[] = [];
  for (let at = 0; at < targets.length; at += TARGETS_AT_ONCE) {
    const some = targets.slice(at, at + TARGETS_AT_ONCE);
    const rows = await writeDeliveries(tx, {
      organizationId,
      projectId,
      alertId,
      event,
      occurrence,
      giveUpSeconds: GIVE_UP_SECONDS,
      channelIds: some.map(({ channelId }) => channelId),
      types: some.map(({ channelType }) => channelType),
      recipients: some.map(({ recipient }) => recipient),
      batched: some.map(({ channelType }) => channelType === 'email' || channelType === 'slack'),
      certificateIds,
    });
    written.push(...rows);
  }
  if (written.length === 0) return;
  await askToSend(
    tx,
    [...new Set(written.map(({ channelId }) => channelId))].map((channelId) => ({
      channelId,
      organizationId,
      projectId,
    })),
  );
  await tx.auditTrail.recordChange(tx, {
    action: 'certificate-alert:notify',
    projectId,
    facts: { alertId, event, count: certificateIds.length },
  });
}

/** Whom channels notify, as the ledger has it: one for each address of a mail channel, else one in all. */
async function recipientsOf(tx: Transaction, channels: readonly ChannelRow[]) {
  const found = await Promise.all(
    channels.map(async (channel) => {
      const { id: channelId, channelType } = channel;
      if (channelType !== 'email') return [{ channelId, channelType, recipient: NOBODY }];
      // One whose addresses cannot be decrypted must not keep the others from what they have to tell; the next run tries it again.
      const config = await openConfig(tx, { ...channel, channelType }).catch(() => null);
      const targets = config === null ? [] : targetsOf(channelType, config);
      const digests = await digestsOf(tx, channel.projectId, targets);
      return digests.map((recipient) => ({ channelId, channelType, recipient }));
    }),
  );
  return found.flat();
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
