import { AccessSnapshot } from '../../../kernel/access-cache/access-cache.js';
import type { Context, Kernel, RequestInfo } from '../../../kernel/context.js';
import { hashToken, hasValidChecksum } from '../../../kernel/crypto/token.js';
import type { Query } from '../../../kernel/database/database.js';
import { TIME_LIMITS } from '../../../kernel/database/time-limits.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { FairQueue } from '../../../kernel/load/fair-queue.js';
import { SharedWork } from '../../../kernel/load/shared-work.js';
import type { FailedAttempts } from '../../../kernel/operations/limits/failed-attempts.js';
import type { PendingTokenUses } from './pending-token-uses.js';
import {
  checkToken,
  contextOf,
  findToken,
  refusalOf,
  requireValid,
  type TokenHolder,
  type ValidToken,
  type ValidTokenRow,
  withCompiledRights,
} from './token-check.js';

/** Maximum number of requests that share one check of their token. */
const MAX_SHARES = 120;

/**
 * Maximum number of concurrent checks: half as many as the pool has connections, the other half is for the requests
 * that have passed. More checks would only wait in the pool, which has no fair queue.
 */
const CHECKS = {
  capacity: 10,
  spare: 0,
  maxWaiting: 1_000,
  maxWaitingOfOne: MAX_SHARES,
  maxWaitMs: TIME_LIMITS.connectMs,
};

/** The result of a check: the holder of the token, or why it is rejected. */
type Checked =
  | {
      readonly holder: ValidToken;
      readonly look: ConstructorParameters<typeof AccessSnapshot> | null;
      readonly refusal?: undefined;
    }
  | { readonly holder: null; readonly refusal: ErrorCode };

/** Turns a bearer token into a Context. */
export class Authenticator {
  /**
   * Tokens are scheduled in turn, so that a flood of requests with one token delays a request with another by one of
   * them.
   */
  readonly #checks = new FairQueue(CHECKS);
  readonly #shared = new SharedWork<null, Checked>({ most: MAX_SHARES, maxWaiting: MAX_SHARES });

  constructor(
    private readonly pendingUses: PendingTokenUses,
    private readonly failures: FailedAttempts,
  ) {}

  /**
   * Checks a token and counts its use. One SQL statement for a valid token, none for a malformed one; a second one for
   * the cause of a rejection, for rules of roles that this node has not compiled yet, and after a change of access.
   *
   * @throws TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_USES_EXHAUSTED, TOKEN_ADDRESS_REFUSED,
   * TOKEN_SCOPE_REFUSED, RATE_LIMITED (too many of them from the address), OVERLOADED
   */
  async authenticate(kernel: Kernel, info: RequestInfo, token: string): Promise<Context> {
    const hash = hashToken(token);
    return this.failures.try({ address: info.address, credential: hash }, async () => {
      if (!hasValidChecksum(token)) throw new AppError('TOKEN_INVALID');
      const { holder, look } = await this.#pass(kernel, hash, info.address);
      const accessSnapshot = look && new AccessSnapshot(...look);
      info.load?.refuseLate();
      return { ...contextOf(kernel, info, holder), accessSnapshot, renewed: () => renewed(kernel, info, hash) };
    });
  }

  /** A use of a token with a use limit is checked alone: each may be the last one. */
  async #pass(kernel: Kernel, hash: Buffer, address: string | null): Promise<Checked & { holder: TokenHolder }> {
    const check = (begin: () => readonly null[]) => this.#check(kernel, hash, address, () => begin().length);
    const { result, place } = await this.#shared.share(`${hash.toString('base64')} ${address}`, null, check);
    const own = place === 0 || !result.holder?.isLimited ? result : await check(() => [null]);
    if (own.holder === null) throw new AppError(own.refusal);
    return own;
  }

  /** @param begin returns how many uses to count */
  async #check(kernel: Kernel, hash: Buffer, address: string | null, begin: () => number): Promise<Checked> {
    const credential = hash.toString('base64');
    const ticket = this.#checks.enter(credential, 1);
    try {
      await ticket.turn;
      const uses = begin();
      const read = async () => {
        const passed = await this.#read(kernel, hash, address, uses);
        const size = (passed?.attributes?.length ?? 0) + (passed?.sessionAttributes?.length ?? 0);
        return passed && { value: passed, until: passed.until, size };
      };
      const name = `token ${credential} ${address}`;
      const { value: passed, state } = await kernel.accessCache.find(name, read);
      if (state !== null) this.pendingUses.hold(hash, uses);
      const holder = passed && (await withCompiledRights(kernel.database.query, hash, address, passed));
      if (holder === null) return { holder, refusal: await refusal(kernel.database.query, hash, address) };
      const expect = (projectId: string): void => kernel.accessCache.expect(name, projectId);
      return { holder, look: state && [state, !holder.isTimed, expect] };
    } finally {
      ticket.end();
    }
  }

  /** Checks a token in the database, and stores the uses that are held of it. */
  async #read({ database }: Kernel, hash: Buffer, address: string | null, uses: number): Promise<ValidTokenRow | null> {
    if (this.pendingUses.isFull) await this.pendingUses.store(database.query);
    const held = this.pendingUses.take(hash);
    const passed = await checkToken(database.query, hash, address, held + uses).catch((error: unknown) => {
      this.pendingUses.hold(hash, held);
      throw error;
    });
    if (passed === null) this.pendingUses.hold(hash, held);
    else if (!passed.isCounted) this.pendingUses.hold(hash, held + uses);
    return passed;
  }

  /** Stores the uses that this node still holds. Called once, when no request is running any more. */
  close(kernel: Kernel): Promise<void> {
    return this.pendingUses.store(kernel.database.query);
  }
}

/** The current rights of the holder of a valid token. @throws the TOKEN_* codes */
async function renewed(kernel: Kernel, info: RequestInfo, hash: Buffer): Promise<Pick<Context, 'actor' | 'ability'>> {
  const token = await findToken(kernel.database.query, hash, info.address);
  // The token was valid: this request may have been its last use.
  const { actor, ability } = contextOf(kernel, info, requireValid(token && { ...token, isSpent: false }));
  return { actor, ability };
}

/** The cause may be gone by now (a range was widened in between); then the token is rejected once all the same. */
async function refusal(query: Query, hash: Buffer, address: string | null): Promise<ErrorCode> {
  return refusalOf(await findToken(query, hash, address)) ?? 'TOKEN_INVALID';
}
