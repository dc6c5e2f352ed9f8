import { AppError } from '../../kernel/errors.js';

/** When to retry: a check takes less. */
const RETRY_AFTER_SECONDS = 1;

/** One check for all requests that arrived before it started. */
interface Check<Result> {
  askedBy: number;
  hasBegun: boolean;
  result: Promise<Result>;
}

/** The result of a check, and whether this caller is the one that it was made for. */
interface Share<Result> {
  readonly result: Result;
  readonly isFirst: boolean;
}

/**
 * Runs one check at a time per credential. Requests that arrive during a check share the next one, which starts after
 * they arrived: its result is valid for each of them, and a hundred concurrent requests with one token cost two
 * statements.
 */
export class SharedChecks<Result> {
  readonly #latest = new Map<string, Check<Result>>();

  /**
   * @param maxShares maximum number of requests that share one check: they continue in the same turn of the event loop
   */
  constructor(private readonly maxShares: number) {}

  /**
   * @param credential requests with the same one share checks
   * @param check calls `begin` when it starts, which returns the number of its requests; later requests do not join
   * @throws OVERLOADED when the next check is already full
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
