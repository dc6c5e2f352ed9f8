import type { Context, Kernel, RequestInfo } from '../../kernel/context.js';
import { hashToken, hasValidChecksum } from '../../kernel/crypto/token.js';
import type { Query } from '../../kernel/database/database.js';
import { TIME_LIMITS } from '../../kernel/database/time-limits.js';
import { AppError } from '../../kernel/errors.js';
import type { FailedAttempts } from '../../kernel/limits/failed-attempts.js';
import { FairQueue } from '../../kernel/load/fair-queue.js';
import type { HeldUses } from './held-uses.js';
import { contextOf, findToken, passToken, refusalOf, requireValid } from './token-check.js';

/**
 * At once, about as many as the pool has connections: more would only wait there, where nobody takes turns, and as long as
 * there.
 */
const CHECKS = {
  capacity: 16,
  spare: 0,
  maxWaiting: 1_000,
  maxWaitingOfOne: 120,
  maxWaitMs: TIME_LIMITS.connectMs,
};

/** Turns a bearer token into a Context. */
export class Authenticator {
  /** Tokens take turns, so that whoever sends many requests at once delays the request of another by one of them. */
  readonly #checks = new FairQueue(CHECKS);

  constructor(
    private readonly heldUses: HeldUses,
    private readonly failures: FailedAttempts,
  ) {}

  /**
   * Checks a token and counts its use. One SQL statement for a token that passes, none for a text that is no token, a
   * second one to name the cause of a refusal.
   *
   * @throws TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_USES_EXHAUSTED, TOKEN_ADDRESS_REFUSED, TOKEN_SCOPE_REFUSED,
   *   RATE_LIMITED (too many of them from the address), OVERLOADED
   * Source: decisions 3, reliability P3.
   */
  async authenticate(kernel: Kernel, info: RequestInfo, token: string): Promise<Context> {
    const hash = hashToken(token);
    return this.failures.try({ address: info.address, credential: hash }, async () => {
      if (!hasValidChecksum(token)) throw new AppError('TOKEN_INVALID');
      const ticket = this.#checks.enter(hash.toString('base64'), 1);
      await ticket.turn;
      try {
        info.load?.refuseLate();
        return await this.#check(kernel, info, hash);
      } finally {
        ticket.end();
      }
    });
  }

  async #check(kernel: Kernel, info: RequestInfo, hash: Buffer): Promise<Context> {
    if (this.heldUses.isFull) await this.heldUses.store(kernel.database.query);
    const held = this.heldUses.take(hash);
    const holder = await passToken(kernel.database.query, hash, info.address, held + 1).catch((error: unknown) => {
      this.heldUses.hold(hash, held);
      throw error;
    });
    if (holder === null) {
      this.heldUses.hold(hash, held);
      throw await refusal(kernel.database.query, hash, info.address);
    }
    if (!holder.isCounted) this.heldUses.hold(hash, held + 1);
    return { ...contextOf(kernel, info, holder), renewed: () => renewed(kernel, info, hash) };
  }

  /** Stores the uses that this node still holds. Called once, when no request runs any more. */
  close(kernel: Kernel): Promise<void> {
    return this.heldUses.store(kernel.database.query);
  }
}

/** What the holder of a token that has passed may do by now. @throws the TOKEN_* codes */
async function renewed(kernel: Kernel, info: RequestInfo, hash: Buffer): Promise<Pick<Context, 'actor' | 'ability'>> {
  const token = await findToken(kernel.database.query, hash, info.address);
  // It has passed: this request may have been its last use.
  const { actor, ability } = contextOf(kernel, info, requireValid(token && { ...token, isSpent: false }));
  return { actor, ability };
}

/** The cause may be gone by now (a range was widened in between); then the token is refused all the same, this once. */
async function refusal(query: Query, hash: Buffer, address: string | null): Promise<AppError> {
  return new AppError(refusalOf(await findToken(query, hash, address)) ?? 'TOKEN_INVALID');
}
