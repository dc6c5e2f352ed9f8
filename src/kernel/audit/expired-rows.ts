import { createHash, type Hash } from 'node:crypto';
import type { Expiry, SealEntry } from './audit-chain.js';

/** Sealed rows that are gone, against the statements about the months that were dropped. */
export class ExpiredRows {
  #count = 0;
  readonly #months: ReadonlyMap<string, { readonly expiry: Expiry; readonly hash: Hash; rows: bigint }>;

  /** @param expiries genuine ones */
  constructor(expiries: readonly Expiry[]) {
    this.#months = new Map(
      expiries.map((expiry) => [expiry.expiresOn, { expiry, hash: createHash('sha256'), rows: 0n }]),
    );
  }

  /** True when the row of this entry was dropped with its month. By rising sequence, and each once. */
  takes({ expiresOn, bytes }: SealEntry): boolean {
    const month = expiresOn === null ? undefined : this.#months.get(expiresOn);
    if (month === undefined) return false;
    month.hash.update(bytes);
    month.rows += 1n;
    this.#count += 1;
    return true;
  }

  /** Rows that were dropped. */
  get count(): number {
    return this.#count;
  }

  /** Months whose statement is about other rows than those that are gone. Asked for once, at the end. */
  get different(): readonly string[] {
    return [...this.#months.values()]
      .filter(({ expiry, hash, rows }) => rows !== expiry.rows || !hash.digest().equals(expiry.digest))
      .map(({ expiry }) => expiry.expiresOn);
  }
}
