import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.js';
import { addressOf, type Buckets, type CountedUse, type LimitedUse } from './buckets.js';

/** Credentials that passed lately, of which a node knows at most so many. */
const MAX_KNOWN = 20_000;
/** What one address may fail at all accounts together, in limits of one. */
const ACCOUNTS_OF_ADDRESS = 4;

/** What counts attempts. */
interface Limits {
  readonly buckets: Buckets | null;
  takeAll(wanted: readonly LimitedUse[]): CountedUse[];
  giveBack(taken: readonly CountedUse[]): void;
}

/** Somebody shows a credential. */
interface Attempt {
  readonly address: string | null;
  /** A digest of it, which names it and shows nothing. */
  readonly credential: Buffer;
  /** Whose account it is for, known or not, where failures count for it at its address. Absent: for the address alone. */
  readonly account?: string;
}

/**
 * Limits failed logins and token checks of an address. An attempt is counted before it is made and given back when it passes, so
 * that however many come at once, no more than the limit reach the database. Only a 401 is a failure.
 *
 * Where the account is known, one that fails all the time leaves others at the same address what they need. Attempts without one, such
 * as those of tokens, are counted apart from these.
 *
 * Not of a client id: its secrets cannot be guessed, and whoever knows the id would lock out its owner. A credential that passed
 * lately is tried in any case, and counted only when it fails: whoever guesses behind the same proxy must not lock out those who
 * are right.
 */
export class FailedAttempts {
  // Not `max`, which takes the room for all of them at once.
  readonly #known = new LRUCache<string, true>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 });

  constructor(private readonly limits: Limits) {}

  /** @throws RATE_LIMITED without trying, and whatever `work` throws */
  async try<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    if (this.limits.buckets === null) return work();
    const name = attempt.credential.toString('base64');
    const counted = this.#known.has(name) ? [] : this.limits.takeAll(wantedBy(attempt));
    try {
      const result = await work();
      this.#known.set(name, true);
      this.limits.giveBack(counted);
      return result;
    } catch (error) {
      if (error instanceof AppError && error.status === 401) this.#fail(name, attempt, counted.length > 0);
      else this.limits.giveBack(counted);
      throw error;
    }
  }

  #fail(name: string, attempt: Attempt, isCounted: boolean): void {
    this.#known.delete(name);
    if (isCounted) return;
    try {
      this.limits.takeAll(wantedBy(attempt));
    } catch {
      // Already over the limit; the response reports why the attempt failed.
    }
  }
}

const wantedBy = ({ address, account }: Attempt): LimitedUse[] => {
  const caller = addressOf({ address });
  if (account === undefined) return [['failures', caller]];
  return [
    ['failures', `account:${account} ${caller}`],
    ['failures', `accounts ${caller}`, 1, ACCOUNTS_OF_ADDRESS],
  ];
};
