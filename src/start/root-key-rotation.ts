import { ConfigurationError } from '../kernel/configuration-error.js';
import type { Transaction } from '../kernel/context.js';
import { changeRootKey, type RootKeyChange } from '../kernel/crypto/root-key-change.js';
import type { RootKeys } from '../kernel/crypto/root-keys.js';
import { queryOf } from '../kernel/database/database.js';

/**
 * Changes the root key of the installation to the next one, with its audit record.
 *
 * @returns null when it was changed before
 * @throws ConfigurationError when there is no next one
 */
export async function rotateRootKey(tx: Transaction, { rootKey, next }: RootKeys): Promise<RootKeyChange | null> {
  if (next === null) throw new ConfigurationError(['NEXT_ROOT_KEY is not set']);
  const change = await changeRootKey(queryOf(tx), rootKey, next);
  if (change !== null)
    await tx.auditTrail.recordChange(tx, {
      action: 'installation:rotate-root-key',
      facts: { ...change },
      isKept: true,
    });
  return change;
}
