import { type Action, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import type { AuthMethod } from './auth-method.js';

/** Whether a stored limit is lower than another; 0 is no limit. */
const isLower = (limit: string, other: string): string => `(${limit} > 0 and (${other} = 0 or ${limit} < ${other}))`;

/** A row: the token of the request has all that the configuration gives by which it was made, and the one of method $2. */
const IS_UNLIMITED = `select 1 from access_token t
  where t.id = $1 and not t.is_revoked and t.num_uses_limit = 0 and not exists (
    select from (
      select 'token-auth' as method, ttl_seconds, max_ttl_seconds from identity_token_auth where identity_id = t.identity_id
      union all
      select 'universal-auth', ttl_seconds, max_ttl_seconds from identity_universal_auth where identity_id = t.identity_id
    ) c
    where c.method in (t.auth_method, $2)
      and (${isLower('t.ttl_seconds', 'c.ttl_seconds')} or ${isLower('t.max_ttl_seconds', 'c.max_ttl_seconds')}))`;

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
  const [unlimited] = await query(tx, IS_UNLIMITED, [tx.actor.tokenId, method]);
  if (unlimited !== undefined) return;
  throw new PermissionDenied(
    { action, projectId: null },
    [],
    [
      {
        path: 'header.authorization',
        code: 'LIMITED_TOKEN',
        message:
          'has a limit on uses, or less life than the configuration gives; use a token without these limits, or ask another admin',
      },
    ],
  );
}
