import type { Query } from '../../../kernel/database/database.js';
import { failedOnData } from '../../../kernel/errors.js';
import { storeTogether } from '../../../kernel/storing-together.js';
import { STORE_USES } from './token-family.sql.js';

/** With more tokens than this the uses are stored, to bound the memory. */
const MAX_TOKENS = 10_000;

/**
 * Uses of tokens without a use limit that this node has seen and not yet stored. The token check stores them with the
 * first use after half a minute; reads of tokens store them first. A killed node loses less than a minute of them. Uses of
 * tokens with a limit are never held here.
 */
export class PendingTokenUses {
  #uses = new Map<string, number>();

  /** Takes the held uses of a token: the caller stores them, or gives them back with `hold`. */
  take(hash: Buffer): number {
    const key = hash.toString('hex');
    const held = this.#uses.get(key) ?? 0;
    this.#uses.delete(key);
    return held;
  }

  hold(hash: Buffer, uses: number): void {
    if (uses === 0) return;
    const key = hash.toString('hex');
    this.#uses.set(key, (this.#uses.get(key) ?? 0) + uses);
  }

  get isFull(): boolean {
    return this.#uses.size >= MAX_TOKENS;
  }

  /** Stores all that is held, but for what the database does not take of a token: its next check fails on that. */
  async store(query: Query): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    const store = async (some: readonly (readonly [key: string, count: number])[]): Promise<void> => {
      await STORE_USES(query, { hashes: some.map(([key]) => key), uses: some.map(([, count]) => count) });
    };
    let failure: unknown;
    await storeTogether([...uses], store, ([key, count], result) => {
      if (result.status === 'fulfilled') return;
      this.hold(Buffer.from(key, 'hex'), count);
      // Of one token alone: its own check says so.
      if (!failedOnData(result.reason)) failure = result.reason;
    });
    if (failure !== undefined) throw failure;
  }
}
