import type { Transaction } from '../../kernel/context.js';
import { type EventType, listChannels, openForTelling } from '../alerts/public.js';
import { ledgerTargets, writeMessages } from '../deliveries/public.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';
import { lockEnabledAlert } from './sender.sql.js';

/** An alert, and the certificates that it notifies of. */
export interface Notice {
  readonly alertId: string;
  readonly event: EventType;
  readonly certificateIds: readonly string[];
  /** The day of a daily reminder. Absent: notify only once. */
  readonly occurrence?: string;
}

/**
 * Notifies of certificates, in the transaction that found them. Messages that were sent or are pending are skipped; those that failed or
 * were cancelled are sent again. Sending starts after the commit. A disabled alert notifies nobody.
 */
export async function notify(tx: Transaction, { alertId, event, certificateIds, occurrence }: Notice): Promise<void> {
  if (certificateIds.length === 0) return;
  const [alert] = await lockEnabledAlert(tx, { id: alertId });
  if (alert === undefined) return;
  const { organizationId, projectId } = alert;
  const channels = (await listChannels(tx, { alertIds: [alertId] })).filter(({ enabled }) => enabled);
  const targets = await ledgerTargets(tx, alert, channels, (channel) => openForTelling(tx, channel));
  const telling = { organizationId, projectId, ownerId: alertId, event, subjectIds: certificateIds };
  const isNew = await writeMessages(
    tx,
    CERTIFICATE_SOURCE,
    occurrence === undefined ? telling : { ...telling, occurrence },
    targets,
  );
  if (!isNew) return;
  await tx.auditTrail.recordChange(tx, {
    action: 'certificate-alert:notify',
    projectId,
    facts: { alertId, event, count: certificateIds.length },
  });
}
