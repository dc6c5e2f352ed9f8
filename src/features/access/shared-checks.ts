import { AppError } from '../../kernel/errors.js';

/** When to try again: a check takes less. */
const RETRY_AFTER_SECONDS = 1;

/** One check for all who asked for it before it began. */
interface Check<Result> {
  askedBy: number;
  hasBegun: boolean;
  result: Promise<Result>;
}

/** What a check told, and whether this caller is the one that it was made for. */
interface Share<Result> {
  readonly result: Result;
  readonly isFirst: boolean;
}

/**
 * Makes one check at a time of each credential. Who comes while one runs shares the next one with all who have come since: it
 * begins after they came, so that its result is true for each of them, and a hundred requests with one token cost two statements.
 */
export class SharedChecks<Result> {
  readonly #latest = new Map<string, Check<Result>>();

  /** @param maxShares requests that share one check: what they do next begins in one turn of the event loop */
  constructor(private readonly maxShares: number) {}

  /**
   * @param credential requests with the same one share checks
   * @param check calls `begin` as it begins, which tells how many requests it is for; nobody joins from then on
   * @throws OVERLOADED, when as many wait for the next check already as may share it
   */
  async share(credential: string, check: (begin: () => number) => Promise<Result>): Promise<Share<Result>> {
    const latest = this.#latest.get(credential);
    if (latest?.hasBegun === false) {
      if (latest.askedBy === this.maxShares)
        throw new AppError('OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      latest.askedBy += 1;
      return { result: await latest.result, isFirst: false };
    }
    const own: Omit<Check<Result>, 'result'> = { askedBy: 1, hasBegun: false };
    const run = () =>
      check(() => {
        own.hasBegun = true;
        return own.askedBy;
      });
    const result = latest === undefined ? run() : latest.result.then(run, run);
    const added = Object.assign(own, { result });
    this.#latest.set(credential, added);
    try {
      return { result: await result, isFirst: true };
    } finally {
      if (this.#latest.get(credential) === added) this.#latest.delete(credential);
    }
  }
}
