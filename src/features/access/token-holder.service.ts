import type { AnonymousContext, Context } from '../../kernel/context.js';
import { hashToken, hasValidChecksum } from '../../kernel/crypto/token.js';
import { queryOf } from '../../kernel/database/database.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import type { FailedAttempts } from '../../kernel/operations/limits/failed-attempts.js';
import { parse } from '../../kernel/validation.js';
import { keepLoggedInAdmins, lockLoggedInAdmins } from '../organizations/public.js';
import { TokenValue } from './access-token.rules.js';
import { contextOf, findToken, type KnownToken, requireValid } from './token-check.js';
import { revokeTokens } from './token-family.js';
import { RENEW_TOKEN } from './token-family.sql.js';

/** What a renewed token is good for. */
export interface RenewedToken {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly accessTokenMaxTTL: number;
}

/**
 * What the holder of a token does with it. These two answer without a bearer token, because the token stands in the body,
 * and count no use of it. The audit row names its owner.
 */
export class TokenHolderService {
  constructor(private readonly failures: FailedAttempts) {}

  /**
   * Lets a token live for another TTL from now. The token stays the same.
   *
   * @param raw `{ accessToken }`
   * @throws VALIDATION_FAILED, TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_USES_EXHAUSTED, TOKEN_ADDRESS_REFUSED,
   *   TOKEN_SCOPE_REFUSED, TOKEN_MAX_TTL_EXCEEDED (nothing changes), RATE_LIMITED, AUDIT_UNAVAILABLE
   */
  async renew(request: Context | AnonymousContext, raw: unknown): Promise<RenewedToken> {
    const { accessToken } = parse(TokenValue, raw);
    const hash = hashToken(accessToken);
    const token = await this.#find(request, accessToken, requireValid);
    return inTransaction(contextOf(request, request, token), async (tx) => {
      const [renewed] = await RENEW_TOKEN(tx, { id: token.tokenId });
      if (renewed === undefined) {
        // Revoked or spent since it was looked up; otherwise only the longest life is left as the cause.
        requireValid(await findToken(queryOf(tx), hash, tx.address));
        throw new AppError('TOKEN_MAX_TTL_EXCEEDED');
      }
      await tx.auditTrail.recordChange(tx, { action: 'access-token:renew', facts: { accessTokenId: token.tokenId } });
      return { accessToken, ...renewed };
    });
  }

  /**
   * Revokes a token, and what it made for its own holder, at once on every node. Whoever holds it may, from any address: a found token should stop working.
   *
   * @param raw `{ accessToken }`
   * @throws VALIDATION_FAILED, TOKEN_INVALID, TOKEN_REVOKED, LAST_ADMIN when no lasting admin of an organization could log in any
   *   more, RATE_LIMITED, AUDIT_UNAVAILABLE
   * @returns the id of the token
   */
  async revoke(request: Context | AnonymousContext, raw: unknown): Promise<string> {
    const { accessToken } = parse(TokenValue, raw);
    const token = await this.#find(request, accessToken, requireKnown);
    return inTransaction(contextOf(request, request, token), async (tx) => {
      const admins = await lockLoggedInAdmins(tx, [token.actorId]);
      const revoked = await revokeTokens(tx, [token.tokenId]);
      if (!revoked.includes(token.tokenId)) throw new AppError('TOKEN_REVOKED');
      await keepLoggedInAdmins(tx, admins);
      await tx.auditTrail.recordChange(tx, {
        action: 'access-token:revoke',
        facts: { accessTokenId: token.tokenId, tokens: revoked.length },
      });
      return token.tokenId;
    });
  }

  /** @throws RATE_LIMITED after too many that did not hold */
  #find(
    { database, address }: Context | AnonymousContext,
    accessToken: string,
    require: (token: KnownToken | null) => KnownToken,
  ): Promise<KnownToken> {
    const hash = hashToken(accessToken);
    return this.failures.try({ address, credential: hash }, async () =>
      require(hasValidChecksum(accessToken) ? await findToken(database.query, hash, address) : null),
    );
  }
}

function requireKnown(token: KnownToken | null): KnownToken {
  if (token === null) throw new AppError('TOKEN_INVALID');
  return token;
}
