import type { Config } from '../config.js';
import { checkAfterChanges } from '../features/notifications/identity-alerts/public.js';
import { notifyOfCredentialChanges } from '../features/notifications/project-notices/public.js';
import { AuditChain } from '../kernel/audit/audit-chain.js';
import type { AuditEvent } from '../kernel/audit/audit-record.js';
import { AuditTrail } from '../kernel/audit/audit-trail.js';
import { KEPT_FOR_EVER } from '../kernel/audit/retention.js';
import type { AccessesOf, AccessTo, HoldingsOf } from '../kernel/authz/ability.js';
import type { Kernel, Transaction } from '../kernel/context.js';
import { DisabledKeys } from '../kernel/crypto/disabled-keys.js';
import { Keyring } from '../kernel/crypto/keyring.js';
import type { InstallationKeys } from '../kernel/crypto/root-keys.js';
import type { Database } from '../kernel/database/database.js';
import { atOnce } from '../kernel/database/in-transaction.js';
import { KnownAccess } from '../kernel/known-access/known-access.js';

/** What the kernel needs of the slices. */
export interface KernelParts {
  readonly accessTo: AccessTo;
  readonly accessesOf: AccessesOf;
  readonly holdingsOf: HoldingsOf;
}

/** The kernel on a migrated database whose root key was checked: for the service, and for programs beside it. */
export const makeKernel = (
  database: Database,
  keys: InstallationKeys,
  {
    accessTo,
    accessesOf,
    holdingsOf,
    publicUrl,
    // Programs beside the service write few records.
    auditRetention = KEPT_FOR_EVER,
    // And open few values twice.
    openedValuesBytes = 0,
  }: KernelParts & Pick<Config, 'publicUrl'> & Partial<Pick<Config, 'auditRetention' | 'openedValuesBytes'>>,
): Kernel => ({
  database,
  keyring: new Keyring(keys, database.query, new DisabledKeys((work) => database.withConnection(work)), {
    openedValuesBytes,
  }),
  auditChain: new AuditChain(keys.macKey('audit-seal')),
  knownAccess: new KnownAccess(database.query),
  auditTrail: new AuditTrail(database.query, keys.macKey('audit'), auditRetention, onCredentialChanges),
  accessTo,
  accessesOf,
  holdingsOf,
  publicUrl,
});

/** What follows from changes of credentials of identities, in the transaction that recorded them. */
async function onCredentialChanges(tx: Transaction, events: readonly AuditEvent[]): Promise<void> {
  await atOnce(notifyOfCredentialChanges(tx, events), checkAfterChanges(tx, events));
}
