import { checkAfterChanges } from '../features/notifications/identity-alerts/public.js';
import { notifyOfCredentialChanges } from '../features/notifications/project-notices/public.js';
import type { AuditEvent } from '../kernel/audit/audit-record.js';
import type { Transaction } from '../kernel/context.js';
import { atOnce } from '../kernel/database/in-transaction.js';

/** What follows from changes of credentials of identities, in the transaction that recorded them. */
export async function onCredentialChanges(tx: Transaction, events: readonly AuditEvent[]): Promise<void> {
  await atOnce(notifyOfCredentialChanges(tx, events), checkAfterChanges(tx, events));
}
