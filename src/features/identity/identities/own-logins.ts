import { type Action, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import type { AuthMethod } from './auth-method.js';
import { findUnlimitedToken } from './identity.sql.js';

/**
 * Keeps a limited token from giving its own identity what it does not have itself: with a limit on uses, or with less life than
 * the configuration gives, it may neither change how the identity gets in nor add a way in. The configuration that counts is
 * the one that is stored now. Other identities are a matter of rights.
 *
 * @param method by which the identity would get in
 * @param action what was tried, for the audit trail
 * @throws PERMISSION_DENIED with the detail LIMITED_TOKEN
 */
export async function protectOwnLogins(
  tx: Transaction,
  identity: { readonly id: string },
  { method, action }: { readonly method: AuthMethod; readonly action: Action },
): Promise<void> {
  if (tx.actor.kind !== 'identity' || tx.actor.id !== identity.id) return;
  const [unlimited] = await findUnlimitedToken(tx, { tokenId: tx.actor.tokenId, method });
  if (unlimited !== undefined) return;
  throw new PermissionDenied(
    { action, projectId: null },
    [],
    [
      {
        path: 'header.authorization',
        code: 'LIMITED_TOKEN',
        message:
          'has a limit on uses, or a shorter TTL than the configuration of its identity; use a token without these limits, or ask another admin',
      },
    ],
  );
}
