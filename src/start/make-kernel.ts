import type { Config } from '../config.js';
import { AccessCache } from '../kernel/access-cache/access-cache.js';
import { AuditChain } from '../kernel/audit/audit-chain.js';
import { AuditTrail } from '../kernel/audit/audit-trail.js';
import { NO_EXPIRATION } from '../kernel/audit/retention.js';
import type { AccessTo } from '../kernel/authz/ability.js';
import type { Kernel } from '../kernel/context.js';
import { DisabledKeys } from '../kernel/crypto/disabled-keys.js';
import { Keyring } from '../kernel/crypto/keyring.js';
import type { InstallationKeys } from '../kernel/crypto/root-keys.js';
import type { Database } from '../kernel/database/database.js';
import { EVENTS, PROVIDERS } from './listeners.js';

/** What the kernel needs of the slices. */
export interface KernelParts {
  readonly accessTo: AccessTo;
}

/** The kernel on a migrated database whose root key was checked: for the service, and for programs beside it. */
export const makeKernel = (
  database: Database,
  keys: InstallationKeys,
  {
    accessTo,
    publicUrl,
    // Programs beside the service write few records.
    auditRetention = NO_EXPIRATION,
    // And open few values twice.
    openedValuesBytes = 0,
  }: KernelParts & Pick<Config, 'publicUrl'> & Partial<Pick<Config, 'auditRetention' | 'openedValuesBytes'>>,
): Kernel => ({
  database,
  keyring: new Keyring(keys, database.query, new DisabledKeys((work) => database.withConnection(work)), {
    openedValuesBytes,
  }),
  auditChain: new AuditChain(keys.macKey('audit-seal')),
  accessCache: new AccessCache(database.query),
  auditTrail: new AuditTrail(database.query, keys.macKey('audit'), auditRetention, EVENTS.credentialsChanged),
  accessTo,
  events: EVENTS,
  providers: PROVIDERS,
  publicUrl,
});
