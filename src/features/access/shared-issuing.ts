import type { Context, Transaction } from '../../kernel/context.js';
import { inTransaction, type WholeTransaction } from '../../kernel/database/in-transaction.js';
import { AppError, failedOnData } from '../../kernel/errors.js';
import { SharedWork } from '../../kernel/load/shared-work.js';
import type { IssuedToken } from './token-issuing.js';

/** Tokens of one transaction: it writes notices of each of them to all projects of the identity. */
const MAX_TOGETHER = 25;
/** Requests of one line: as many as may wait for transactions, and as long. */
const MAX_WAITING = 500;
const MAX_WAIT_MS = 10_000;

/** A request for a token. */
export interface Asked {
  readonly ctx: Context;
  readonly name: string | null;
  /** `performance.now()` when it came. */
  readonly since: number;
}

/** The tokens of requests. */
export type Issued = ReadonlyMap<Asked, IssuedToken>;
type Issue = (tx: Transaction, requests: readonly Asked[]) => Promise<Issued | WholeTransaction<Issued>>;

/** Refuses several requests at once, of which some may be allowed by themselves. */
export class RefusedTogether extends Error {}

/**
 * Issues tokens. Requests of one line that arrive while one of them runs share the next transaction: what allows or refuses one of
 * them does so for all, but for `RefusedTogether`.
 */
export class SharedIssuing {
  readonly #shared = new SharedWork<Asked, Issued>({ most: MAX_TOGETHER, maxWaiting: MAX_WAITING });

  /**
   * @param line of requests that have everything in common but their names; null: this one is alone
   * @throws what `issue` throws, and DEADLINE_EXCEEDED, OVERLOADED
   */
  async issue(asked: Asked, line: string | null, issue: Issue): Promise<IssuedToken> {
    const issued = line === null ? await this.#alone(asked, issue) : await this.#together(asked, line, issue);
    const token = issued.get(asked);
    if (token === undefined) throw new AppError('DEADLINE_EXCEEDED');
    return token;
  }

  #alone(asked: Asked, issue: Issue): Promise<Issued> {
    return inTransaction(asked.ctx, (tx) => issueAwaited(tx, [asked], issue));
  }

  async #together(asked: Asked, line: string, issue: Issue): Promise<Issued> {
    // When its first request is answered is of no matter to the others.
    const ctx = { ...asked.ctx, load: undefined };
    try {
      const { result } = await this.#shared.share(line, asked, (begin) =>
        inTransaction(ctx, (tx) => issueAwaited(tx, begin(), issue)),
      );
      return result;
    } catch (error) {
      // On what one of them brings: each finds out whether that is its own.
      if (!(error instanceof RefusedTogether) && !failedOnData(error)) throw error;
      return await this.#alone(asked, issue);
    } finally {
      asked.ctx.standing?.spend();
    }
  }
}

/** Nothing is done for a request that was answered meanwhile, or soon will be. */
function issueAwaited(tx: Transaction, all: readonly Asked[], issue: Issue): ReturnType<Issue> {
  const requests = all.filter(isAwaited);
  if (requests.length === 0) throw new AppError('DEADLINE_EXCEEDED');
  return issue(tx, requests);
}

const isAwaited = ({ ctx, since }: Asked): boolean =>
  ctx.load?.isOver !== true && performance.now() - since < MAX_WAIT_MS;
