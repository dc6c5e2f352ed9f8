import type { Transaction } from '../../kernel/context.js';
import { AppError } from '../../kernel/errors.js';
import { handOverUses } from './access-token.queries.js';
import { HOLD_REMAINING, REVOKE_FAMILIES, TOKENS_OF_CLIENT_SECRET } from './token-family.sql.js';

/** How long a token lives and how often it passes; 0 means no limit. */
export interface TokenLimits {
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
  readonly accessTokenNumUsesLimit: number;
}

/**
 * The limits of a token that the token of this request makes for its own actor: those that were asked for, cut down to the
 * life and uses that its maker has left. Uses are handed over: the maker has them no more, so that all tokens of a family
 * together pass as often as the first one could. The maker is held until the commit: whoever revokes it meanwhile waits, and
 * then sees the new token.
 *
 * @throws TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_USES_EXHAUSTED when the maker has nothing left to hand over
 */
export async function inheritLimits(
  tx: Transaction,
  wanted: TokenLimits,
): Promise<TokenLimits & { readonly makerId: string }> {
  const makerId = tx.actor.tokenId;
  const [maker] = await HOLD_REMAINING(tx, { id: makerId });
  if (makerId === null || maker === undefined) throw new AppError('TOKEN_INVALID');
  if (maker.isRevoked) throw new AppError('TOKEN_REVOKED');
  if (maker.seconds !== null && maker.seconds < 1) throw new AppError('TOKEN_EXPIRED');
  // With its last use, which is this request, a token makes nothing.
  if (maker.uses !== null && maker.uses < 1) throw new AppError('TOKEN_USES_EXHAUSTED');
  const accessTokenNumUsesLimit = lower(wanted.accessTokenNumUsesLimit, maker.uses);
  if (maker.uses !== null) {
    await handOverUses(tx, { id: makerId, uses: String(accessTokenNumUsesLimit) });
  }
  return {
    makerId,
    accessTokenTTL: lower(wanted.accessTokenTTL, maker.seconds),
    accessTokenMaxTTL: lower(wanted.accessTokenMaxTTL, maker.seconds),
    accessTokenNumUsesLimit,
  };
}

/** The lower of two limits, of which 0 and null are none. */
const lower = (wanted: number, left: number | null): number =>
  left === null ? wanted : wanted === 0 ? left : Math.min(wanted, left);

/**
 * Revokes tokens, and what they made for their own actors, directly or through others. The check of a token looks at its own
 * row only, so that it costs the same whatever family a token is of.
 *
 * @returns ids of those that were not revoked before
 */
export async function revokeTokens(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const revoked: string[] = [];
  for (;;) {
    const rows = await REVOKE_FAMILIES(tx, { ids: [...ids, ...revoked] });
    // A statement does not see a token that was being made while it waited for the maker; the one after it does. Once one finds
    // nothing, every maker is revoked and held here, so that there will be no more.
    if (rows.length === 0) return revoked;
    revoked.push(...rows.map(({ id }) => id));
  }
}

/** Revokes the tokens of logins with a client secret that was revoked before. @returns how many, with those that they made */
export async function revokeTokensOfClientSecret(tx: Transaction, clientSecretId: string): Promise<number> {
  const tokens = await TOKENS_OF_CLIENT_SECRET(tx, { clientSecretId });
  return (
    await revokeTokens(
      tx,
      tokens.map(({ id }) => id),
    )
  ).length;
}
