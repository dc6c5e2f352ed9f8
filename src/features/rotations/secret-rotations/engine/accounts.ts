import type { Transaction } from '../../../../kernel/context.js';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { digestOfAccount, lockAccount } from '../../app-connections/public.js';
import { lockRotation } from '../store/lock.js';
import { listAccountOwners } from '../store/rotation.queries.js';
import type { Work } from './work.js';

/** Why a rotation whose account another one owns does not run: each would make the password of the other invalid. */
export const OWNED = {
  code: 'ACCOUNT_ROTATED',
  message:
    'Another rotation of the organization owns the same account. Delete one of the two, then rotate the other manually.',
} as const;

/**
 * Makes a rotation the owner of its account.
 *
 * @param account as `accountOf` of its kind returns it
 * @returns false if another rotation of the organization owns it
 */
export async function claimAccount(
  tx: Transaction,
  { rotation: { id }, kind }: { readonly rotation: { readonly id: string }; readonly kind: Pick<Work['kind'], 'app'> },
  account: SealedText,
): Promise<boolean> {
  const rotation = await lockRotation(tx, id);
  const digest = await digestOfAccount(tx, kind.app, account);
  if (rotation === null || digest === null) return true;
  await lockAccount(tx, { digest });
  const owners = await listAccountOwners(tx, { organizationId: tx.organizationId, accountDigest: digest });
  if (owners.some(({ rotationId }) => rotationId !== id)) return false;
  tx.em.assign(rotation, { accountDigest: digest });
  await flush(tx);
  return true;
}
