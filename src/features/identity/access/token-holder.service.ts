import type { AnonymousContext, Context } from '../../../kernel/context.js';
import { hashToken, hasValidChecksum } from '../../../kernel/crypto/token.js';
import { queryOf } from '../../../kernel/database/database.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import type { FailedAttempts } from '../../../kernel/operations/limits/failed-attempts.js';
import { parse } from '../../../kernel/validation.js';
import { keepLoggedInAdmins, lockLoggedInAdmins } from '../organizations/public.js';
import { renewToken } from './access-token.queries.js';
import { TokenValue } from './access-token.rules.js';
import { type CheckedToken, contextOf, findToken, requireValid } from './token-check.js';
import { revokeTokens } from './token-family.js';

/** The limits of a renewed token. */
interface RenewedToken {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly accessTokenMaxTTL: number;
}

/**
 * The operations of a holder on its own token. Both need no bearer token, because the token is in the body, and do not
 * count as a use. The audit record names its owner.
 */
export class TokenHolderService {
  constructor(private readonly failures: FailedAttempts) {}

  /**
   * Extends a token by another TTL from now. The token itself is unchanged.
   *
   * @param raw `{ accessToken }`
   * @throws VALIDATION_FAILED, TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_USES_EXHAUSTED,
   * TOKEN_ADDRESS_REFUSED, TOKEN_SCOPE_REFUSED, TOKEN_MAX_TTL_EXCEEDED (nothing changes), RATE_LIMITED,
   * AUDIT_UNAVAILABLE
   */
  async renew(request: Context | AnonymousContext, raw: unknown): Promise<RenewedToken> {
    const { accessToken } = parse(TokenValue, raw);
    const hash = hashToken(accessToken);
    const token = await this.#find(request, accessToken, requireValid);
    return inTransaction(contextOf(request, request, token), async (tx) => {
      const [renewed] = await renewToken(tx, { id: token.tokenId });
      if (renewed === undefined) {
        // Revoked or used up since the lookup; otherwise the maximum lifetime is the only remaining cause.
        requireValid(await findToken(queryOf(tx), hash, tx.address));
        throw new AppError('TOKEN_MAX_TTL_EXCEEDED');
      }
      await tx.auditTrail.recordChange(tx, { action: 'access-token:renew', facts: { accessTokenId: token.tokenId } });
      return { accessToken, ...renewed };
    });
  }

  /**
   * Revokes a token, with the tokens that it created for the same holder, at once on every node. Any holder may, from
   * any address: whoever finds a leaked token can disable it.
   *
   * @param raw `{ accessToken }`
   * @throws VALIDATION_FAILED, TOKEN_INVALID, TOKEN_REVOKED, LAST_ADMIN when no permanent admin of an organization
   * could log in any more, RATE_LIMITED, AUDIT_UNAVAILABLE
   * @returns the ID of the token
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

  /** @throws RATE_LIMITED after too many invalid ones */
  #find(
    { database, address }: Context | AnonymousContext,
    accessToken: string,
    require: (token: CheckedToken | null) => CheckedToken,
  ): Promise<CheckedToken> {
    const hash = hashToken(accessToken);
    return this.failures.try({ address, credential: hash }, async () =>
      require(hasValidChecksum(accessToken) ? await findToken(database.query, hash, address) : null),
    );
  }
}

function requireKnown(token: CheckedToken | null): CheckedToken {
  if (token === null) throw new AppError('TOKEN_INVALID');
  return token;
}
