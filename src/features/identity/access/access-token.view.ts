import { NO_ID } from '../../../kernel/ids.js';
import { toInt } from '../../../kernel/number-rules.js';
import type { TokenRow } from './access-token.queries.js';

/** A token as services return it: everything but the token itself. */
export type AccessTokenView = ReturnType<typeof toAccessTokenView>;

export const toAccessTokenView = (row: TokenRow) => ({
  ...row,
  accessTokenNumUses: toInt(row.accessTokenNumUses),
  expiresAt: endOf(row),
});

/** Holder of a token: a machine identity or a user. */
export const holderOf = ({ identityId, userId }: Pick<TokenRow, 'identityId' | 'userId'>): string =>
  identityId ?? userId ?? NO_ID;

/** When a token ends at the latest; null for never. For display only: `ENDS_AT` of the check decides. */
function endOf({ expiresAt, accessTokenMaxTTL, createdAt }: TokenRow): Date | null {
  const oldest = accessTokenMaxTTL > 0 ? new Date(createdAt.getTime() + accessTokenMaxTTL * 1_000) : null;
  if (expiresAt === null || oldest === null) return expiresAt ?? oldest;
  return expiresAt < oldest ? expiresAt : oldest;
}
