import type { Context, Transaction } from '../../kernel/context.js';
import { hashToken, mintToken } from '../../kernel/crypto/token.js';
import { type Query, query } from '../../kernel/database/database.js';
import { guarded } from '../../kernel/database/in-transaction.js';
import { type PageRequest, timePageBounds } from '../../kernel/graphql/page.js';
import { newId } from '../../kernel/ids.js';
import { type AccessTokenView, TOKEN_COLUMNS, toAccessTokenView } from './access-token.view.js';
import type { TokenLimits } from './token-family.js';

/** A token that was just made: the only moment at which it is there to be shown. */
export interface IssuedToken {
  readonly accessToken: string;
  readonly tokenData: AccessTokenView;
}

/** A machine identity, and the client secret with which it logged in, if it did. */
interface IdentityOwner {
  readonly identityId: string;
  readonly clientSecretId?: string;
}

/** What a new token is made of. */
export interface TokenOrder extends TokenLimits {
  readonly owner: IdentityOwner | { readonly userId: string };
  /** The organization that it is scoped to. */
  readonly organizationId: string;
  readonly name: string | null;
  /** The token of the same actor that makes it; absent for every other. */
  readonly makerId?: string;
}

/** Whether a token is there, passes, and was never used. */
export async function isUnused(ask: Query, accessToken: string): Promise<boolean> {
  const [row] = await ask('select 1 from access_token where token_hash = $1 and not is_revoked and num_uses = 0', [
    hashToken(accessToken),
  ]);
  return row !== undefined;
}

const INSERT = `with t as (
    insert into access_token (id, organization_id, identity_id, user_id, auth_method, name, token_hash, ttl_seconds, max_ttl_seconds, num_uses_limit, client_secret_id, maker_id, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8::int, $9, $10, $11, $12, case when $8::int > 0 then now() + make_interval(secs => $8::int) end)
    returning *
  ) select ${TOKEN_COLUMNS} from t join organization o on o.id = t.organization_id`;

/**
 * Mints and stores a token. Who may do so, and the audit row, are the caller's business.
 *
 * @param accessToken a token that was made elsewhere (first start); otherwise it is minted here
 * @throws IDENTITY_NOT_FOUND, USER_NOT_FOUND, ORGANIZATION_NOT_FOUND
 */
export async function insertToken(
  tx: Transaction,
  order: TokenOrder,
  accessToken: string = mintToken(),
): Promise<IssuedToken> {
  const { identityId, userId, clientSecretId, authMethod } = ownerColumns(order.owner);
  const params = [
    newId(),
    order.organizationId,
    identityId,
    userId,
    authMethod,
    order.name,
    hashToken(accessToken),
    order.accessTokenTTL,
    order.accessTokenMaxTTL,
    order.accessTokenNumUsesLimit,
    clientSecretId,
    order.makerId ?? null,
  ];
  // Owner and scope were loaded before, and may be deleted at this moment.
  const [row] = await guarded(() => query<AccessTokenView>(tx, INSERT, params), {
    access_token_identity_id_fkey: 'IDENTITY_NOT_FOUND',
    access_token_user_id_fkey: 'USER_NOT_FOUND',
    access_token_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
  });
  if (row === undefined) throw new Error('an insert returned no row');
  tx.claim?.withholdAnswer(row.id);
  return { accessToken, tokenData: toAccessTokenView(row) };
}

function ownerColumns(owner: TokenOrder['owner']) {
  if ('userId' in owner)
    return { identityId: null, userId: owner.userId, clientSecretId: null, authMethod: 'personal' } as const;
  const { identityId, clientSecretId = null } = owner;
  const authMethod = clientSecretId === null ? 'token-auth' : 'universal-auth';
  return { identityId, userId: null, clientSecretId, authMethod } as const;
}

/** Tokens of one owner, newest change first, then id. One more than asked for, so that the page knows of it. */
export async function selectTokens(
  ctx: Context,
  owner: { readonly column: 'identity_id' | 'user_id'; readonly id: string },
  { offset, ...request }: PageRequest & { readonly offset?: number | null | undefined },
): Promise<AccessTokenView[]> {
  const rows = await query<AccessTokenView>(
    ctx,
    `select ${TOKEN_COLUMNS} from access_token t join organization o on o.id = t.organization_id
     where t.${owner.column} = $1 and ($6 or t.organization_id = $7) and ($2::timestamptz is null or t.updated_at < $2 or (t.updated_at = $2 and t.id > $3::uuid))
     order by t.updated_at desc, t.id limit $4 offset $5`,
    [owner.id, ...timePageBounds(request), offset ?? 0, isRootScoped(ctx), ctx.organizationId],
  );
  return rows.map(toAccessTokenView);
}

/** A token of a sub-organization sees and changes nothing beyond it, not even its owner's other tokens. */
export const isRootScoped = (ctx: Context): boolean => ctx.organizationId === ctx.rootOrganizationId;
