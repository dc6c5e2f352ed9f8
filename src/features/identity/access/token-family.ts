import { raw as sql } from '@mikro-orm/core';
import type { Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { AccessToken } from './access-token.entity.js';
import { listOfClientSecret, lockRemainingUses } from './access-token.queries.js';
import { REVOKE_FAMILIES } from './token-family.sql.js';

/** Lifetime and number of uses of a token; 0 means no limit. */
export interface TokenLimits {
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
  readonly accessTokenNumUsesLimit: number;
}

/**
 * The limits of a token that the token of this request creates for the same actor: the requested ones, reduced to the
 * remaining lifetime and uses of the creating token. Uses are handed over: the creating token loses them, so that all
 * tokens of a family together can be used as often as the first one. The creating token is locked until the commit: a
 * concurrent revocation waits, and then sees the new token.
 *
 * @throws TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_USES_EXHAUSTED when the creating token has nothing left to hand over
 */
export async function inheritLimits(
  tx: Transaction,
  wanted: TokenLimits,
): Promise<TokenLimits & { readonly makerId: string }> {
  const makerId = tx.actor.tokenId;
  const [maker] = await lockRemainingUses(tx, { id: makerId });
  if (makerId === null || maker === undefined) throw new AppError('TOKEN_INVALID');
  if (maker.isRevoked) throw new AppError('TOKEN_REVOKED');
  if (maker.seconds !== null && maker.seconds < 1) throw new AppError('TOKEN_EXPIRED');
  // With its last use, which is this request, a token cannot create another one.
  if (maker.uses !== null && maker.uses < 1) throw new AppError('TOKEN_USES_EXHAUSTED');
  const accessTokenNumUsesLimit = lower(wanted.accessTokenNumUsesLimit, maker.uses);
  if (maker.uses !== null) {
    await tx.em.nativeUpdate(AccessToken, { id: makerId }, { numUses: sql('num_uses + ?', [accessTokenNumUsesLimit]) });
  }
  return {
    makerId,
    accessTokenTTL: lower(wanted.accessTokenTTL, maker.seconds),
    accessTokenMaxTTL: lower(wanted.accessTokenMaxTTL, maker.seconds),
    accessTokenNumUsesLimit,
  };
}

/** The lower of two limits; 0 and null mean no limit. */
const lower = (wanted: number, left: number | null): number =>
  left === null ? wanted : wanted === 0 ? left : Math.min(wanted, left);

/**
 * Revokes tokens and the tokens that they created for the same actors, directly or indirectly. The check of a token
 * reads only its own row, so that it costs the same for any family.
 *
 * @returns IDs of those that were not revoked before
 */
export async function revokeTokens(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const revoked: string[] = [];
  for (;;) {
    const rows = await REVOKE_FAMILIES(tx, { ids: [...ids, ...revoked] });
    // A statement does not see a token that was being created while it waited for the creating one; the next statement
    // does. Once one finds nothing, every creating token is revoked and locked, so that there are no new ones.
    if (rows.length === 0) return revoked;
    revoked.push(...rows.map(({ id }) => id));
  }
}

/**
 * Revokes the tokens of logins with a client secret that was revoked before.
 *
 * @returns their number, including descendants
 */
export async function revokeTokensOfClientSecret(tx: Transaction, clientSecretId: string): Promise<number> {
  const tokens = await listOfClientSecret(tx, { clientSecretId });
  return (
    await revokeTokens(
      tx,
      tokens.map(({ id }) => id),
    )
  ).length;
}
