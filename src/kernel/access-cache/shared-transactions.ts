import type { Context, Transaction } from '../context.js';
import { inTransaction, type WholeTransaction } from '../database/in-transaction.js';
import { AppError, failedOnData } from '../errors.js';
import { SharedWork } from '../load/shared-work.js';

/** As many requests of one line may wait as for transactions, and as long. */
const MAX_WAITING = 500;
const MAX_WAIT_MS = 10_000;

/** A request that may share a transaction, with what it has of its own. */
export interface SharedRequest {
  readonly ctx: Context;
  /** `performance.now()` when it came. */
  readonly since: number;
}

/** What each request gets. */
export type ResultsByRequest<Item, Result> = ReadonlyMap<Item, Result>;
type Work<Item, Result> = (
  tx: Transaction,
  items: readonly Item[],
) => Promise<ResultsByRequest<Item, Result> | WholeTransaction<ResultsByRequest<Item, Result>>>;

/** Refuses several requests at once, of which some may be allowed by themselves. */
export class RefusedTogether extends Error {}

/**
 * Transactions for many requests. Requests of one line that arrive while one of them runs share the next transaction: what allows or
 * refuses one of them does so for all, but for `RefusedTogether`.
 */
export class SharedTransactions<Item extends SharedRequest, Result> {
  readonly #shared: SharedWork<Item, ResultsByRequest<Item, Result>>;

  /** @param most requests of one transaction */
  constructor(most: number) {
    this.#shared = new SharedWork({ most, maxWaiting: MAX_WAITING });
  }

  /**
   * @param line of requests that have everything in common but what their items have; null: this one is alone
   * @throws what `work` throws, and DEADLINE_EXCEEDED, OVERLOADED
   */
  async run(item: Item, line: string | null, work: Work<Item, Result>): Promise<Result> {
    const given = line === null ? await this.#alone(item, work) : await this.#together(item, line, work);
    if (!given.has(item)) throw new AppError('DEADLINE_EXCEEDED');
    return given.get(item) as Result;
  }

  #alone(item: Item, work: Work<Item, Result>): Promise<ResultsByRequest<Item, Result>> {
    return inTransaction(item.ctx, (tx) => workForAwaited(tx, [item], work));
  }

  async #together(item: Item, line: string, work: Work<Item, Result>): Promise<ResultsByRequest<Item, Result>> {
    // When its first request is answered is of no matter to the others.
    const ctx = { ...item.ctx, load: undefined };
    try {
      const { result } = await this.#shared.share(line, item, (begin) =>
        inTransaction(ctx, (tx) => workForAwaited(tx, begin(), work)),
      );
      return result;
    } catch (error) {
      // On what one of them brings: each finds out whether that is its own.
      if (!(error instanceof RefusedTogether) && !failedOnData(error)) throw error;
      return await this.#alone(item, work);
    } finally {
      item.ctx.accessSnapshot?.invalidate();
    }
  }
}

/** Nothing is done for a request that was answered meanwhile, or soon will be. */
function workForAwaited<Item extends SharedRequest, Result>(
  tx: Transaction,
  all: readonly Item[],
  work: Work<Item, Result>,
): ReturnType<Work<Item, Result>> {
  const items = all.filter(isAwaited);
  if (items.length === 0) throw new AppError('DEADLINE_EXCEEDED');
  return work(tx, items);
}

const isAwaited = ({ ctx, since }: SharedRequest): boolean =>
  ctx.load?.isOver !== true && performance.now() - since < MAX_WAIT_MS;
