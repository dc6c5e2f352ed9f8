import type { Transaction } from '../../kernel/context.js';
import { hashToken, mintToken } from '../../kernel/crypto/token.js';
import type { Query } from '../../kernel/database/database.js';
import { guarded } from '../../kernel/database/in-transaction.js';
import { newId } from '../../kernel/ids.js';
import { findUnusedToken, insertTokenRow } from './access-token.queries.js';
import { type AccessTokenView, toAccessTokenView } from './access-token.view.js';
import type { TokenLimits } from './token-family.js';

/** A new token, in plaintext only at this moment. */
export interface IssuedToken {
  readonly accessToken: string;
  readonly tokenData: AccessTokenView;
}

/** A machine identity, and the client secret with which it logged in, if it did. */
interface IdentityOwner {
  readonly identityId: string;
  readonly clientSecretId?: string;
}

/** The fields of a new token. */
export interface TokenOrder extends TokenLimits {
  /** Absent: any. */
  readonly id?: string;
  readonly owner: IdentityOwner | { readonly userId: string };
  /** The organization that it is scoped to. */
  readonly organizationId: string;
  readonly name: string | null;
  /** The token of the same actor that creates it; absent in all other cases. */
  readonly makerId?: string;
  /** For a token without a TTL: how long it lasts unless it is used. Its first use removes this end. */
  readonly unusedSeconds?: number;
}

/** A token that was never used, and whether it has expired; null when it was used or revoked, or does not exist. */
export async function findUnused(ask: Query, accessToken: string): Promise<{ readonly isExpired: boolean } | null> {
  const [token] = await findUnusedToken(ask, { hash: hashToken(accessToken) });
  return token ?? null;
}

/**
 * Mints and stores a token. Authorization and the audit record are up to the caller.
 *
 * @param accessToken an existing token (first start); otherwise one is minted here
 * @throws IDENTITY_NOT_FOUND, USER_NOT_FOUND, ORGANIZATION_NOT_FOUND
 */
export async function insertToken(
  tx: Transaction,
  order: TokenOrder,
  accessToken: string = mintToken(),
): Promise<IssuedToken> {
  const id = order.id ?? newId();
  // Before the insert: it may be sent together with the commit.
  tx.claim?.withholdResponse(id);
  const token = {
    id,
    organization_id: order.organizationId,
    ...ownerColumns(order.owner),
    name: order.name,
    token_hash: hashToken(accessToken),
    ttl_seconds: order.accessTokenTTL,
    max_ttl_seconds: order.accessTokenMaxTTL,
    num_uses_limit: order.accessTokenNumUsesLimit,
    maker_id: order.makerId ?? null,
    unused_seconds: order.unusedSeconds ?? null,
  };
  // Owner and scope were loaded before, and may be deleted concurrently.
  const [row] = await guarded(() => insertTokenRow(tx, token), {
    access_token_identity_id_fkey: 'IDENTITY_NOT_FOUND',
    access_token_user_id_fkey: 'USER_NOT_FOUND',
    access_token_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
  });
  if (row === undefined) throw new Error('an insert returned no row');
  return { accessToken, tokenData: toAccessTokenView(row) };
}

function ownerColumns(owner: TokenOrder['owner']) {
  if ('userId' in owner)
    return { identity_id: null, user_id: owner.userId, client_secret_id: null, auth_method: 'personal' } as const;
  const { identityId: identity_id, clientSecretId: client_secret_id = null } = owner;
  const auth_method = client_secret_id === null ? 'token-auth' : 'universal-auth';
  return { identity_id, user_id: null, client_secret_id, auth_method } as const;
}
