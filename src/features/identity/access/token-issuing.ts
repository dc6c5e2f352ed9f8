import type { Transaction } from '../../../kernel/context.js';
import { hashToken, mintToken } from '../../../kernel/crypto/token.js';
import type { Query } from '../../../kernel/database/database.js';
import { withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { newId } from '../../../kernel/ids.js';
import { type AccessTokenView, findUnusedToken, insertTokenRows, toAccessTokenView } from './access-token.queries.js';
import type { TokenLimits } from './token-family.js';

/** A new token, in plaintext only at this moment. */
export interface IssuedToken {
  readonly accessToken: string;
  readonly tokenData: AccessTokenView;
}

/** A machine identity, and the client secret or the token of a platform with which it logged in, if it did. */
interface IdentityOwner {
  readonly identityId: string;
  readonly clientSecretId?: string;
  readonly platform?: {
    readonly method: 'oidc-auth' | 'kubernetes-auth';
    /** What is kept of its token. */
    readonly sessionClaims: Readonly<Record<string, string>>;
  };
}

/** What new tokens have in common. */
export interface TokenOrder extends TokenLimits {
  readonly owner: IdentityOwner | { readonly userId: string };
  /** The organization that they are scoped to. */
  readonly organizationId: string;
  /** The token of the same actor that creates them; absent in all other cases. */
  readonly makerId?: string;
  /** For tokens without a TTL: how long they last unless they are used. The first use removes this end. */
  readonly unusedSeconds?: number;
}

/** What a new token has of its own. */
export interface NamedToken {
  /** Absent: any. */
  readonly id?: string;
  readonly name: string | null;
  /** An existing token (first start). Absent: one is minted. */
  readonly accessToken?: string;
}

/** A token that was never used, and whether it has expired; null when it was used or revoked, or does not exist. */
export async function findUnused(ask: Query, accessToken: string): Promise<{ readonly isExpired: boolean } | null> {
  const [token] = await findUnusedToken(ask, { hash: hashToken(accessToken) });
  return token ?? null;
}

/**
 * Mints and stores a token. Authorization and the audit record are up to the caller.
 *
 * @throws IDENTITY_NOT_FOUND, USER_NOT_FOUND, ORGANIZATION_NOT_FOUND
 */
export async function insertToken(tx: Transaction, order: TokenOrder, token: NamedToken): Promise<IssuedToken> {
  const [issued] = await insertTokens(tx, order, [token]);
  return issued as IssuedToken;
}

/** The same for many, in one statement. */
export async function insertTokens(
  tx: Transaction,
  order: TokenOrder,
  tokens: readonly NamedToken[],
): Promise<IssuedToken[]> {
  const minted = tokens.map(({ id = newId(), name, accessToken = mintToken() }) => ({ id, name, accessToken }));
  const ids = minted.map(({ id }) => id);
  // Before the insert: it may be sent together with the commit.
  tx.claim?.withholdResponse(...ids);
  const given = {
    organization_id: order.organizationId,
    ...ownerColumns(order.owner),
    ttl_seconds: order.accessTokenTTL,
    max_ttl_seconds: order.accessTokenMaxTTL,
    num_uses_limit: order.accessTokenNumUsesLimit,
    maker_id: order.makerId ?? null,
    unused_seconds: order.unusedSeconds ?? null,
    ids,
    names: minted.map(({ name }) => name),
    hashes: minted.map(({ accessToken }) => hashToken(accessToken)),
  };
  // Owner and scope were loaded before, and may be deleted concurrently.
  const rows = await withConstraintCodes(() => insertTokenRows(tx, given), {
    access_token_identity_id_fkey: 'IDENTITY_NOT_FOUND',
    access_token_user_id_fkey: 'USER_NOT_FOUND',
    access_token_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
  });
  const views = new Map(rows.map((row) => [row.id, toAccessTokenView(row)]));
  return minted.map(({ id, accessToken }) => {
    const tokenData = views.get(id);
    if (tokenData === undefined) throw new Error('an insert returned no row');
    return { accessToken, tokenData };
  });
}

function ownerColumns(owner: TokenOrder['owner']) {
  if ('userId' in owner)
    return {
      identity_id: null,
      user_id: owner.userId,
      client_secret_id: null,
      auth_method: 'personal',
      session_claims: null,
    } as const;
  const { identityId: identity_id, clientSecretId: client_secret_id = null, platform } = owner;
  const auth_method = platform?.method ?? (client_secret_id === null ? 'token-auth' : 'universal-auth');
  return {
    identity_id,
    user_id: null,
    client_secret_id,
    auth_method,
    session_claims: platform?.sessionClaims ?? null,
  } as const;
}
