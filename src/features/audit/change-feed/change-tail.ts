import { setTimeout as delay } from 'node:timers/promises';
import { findSealedSequence } from '../../../kernel/audit/audit-seal.sql.js';
import type { Kernel } from '../../../kernel/context.js';
import { inBackground } from '../../../kernel/database/background.js';
import type { Query } from '../../../kernel/database/database.js';
import { failedOnData } from '../../../kernel/errors.js';
import { describeError } from '../../../kernel/log.js';
import { type Change, type ChangeRange, type FeedRange, readChanges } from './change-reading.js';
import { isAfterPosition, type Position, positionAfterRecord } from './position.js';

/** Seals of the trail come every 500 ms at most, and nothing is sent before. */
const POLL_MS = 250;
/** Records of the trail that are read at once. */
const AT_ONCE = 500;
/** The same for a stream that is behind: its client gets the first of them soon, and each may be about many secrets. */
const BEHIND_AT_ONCE = 50;
/** Changes that are kept in memory, of all organizations. */
const MOST_KEPT = 10_000;

/** What the feed is read with. */
type Following = Pick<Kernel, 'database' | 'log'>;

/** How far the feed goes, and the time of the database. */
export interface Head {
  readonly settled: bigint;
  readonly now: Date;
}

/**
 * The end of the feed on this node. As long as there are streams, it reads each settled change once for all of them and keeps the
 * latest; whoever is further behind reads the trail itself, so that no stream waits for another.
 */
export class ChangeTail {
  /** Changes after `#from`, up to `#upTo`. */
  #kept: Change[] = [];
  #from = 0n;
  #upTo = 0n;
  #now = new Date(0);
  #streams = 0;
  #polling: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<() => void>();

  /** Time of the database when it was last asked. */
  get now(): Date {
    return this.#now;
  }

  /**
   * Begins to follow the feed.
   *
   * @returns where it is, and what ends it
   * @throws STORE_UNAVAILABLE
   */
  async join(ctx: Following): Promise<Head & { readonly leave: () => void }> {
    const [head] = await findSealedSequence(ctx.database.query, {});
    if (head === undefined) throw new Error('a query for one row returned none');
    const settled = BigInt(head.sequence);
    this.#streams += 1;
    if (this.#streams === 1) {
      const before = this.#polling;
      this.#polling = inBackground(() => before.then(() => this.#poll(ctx, { settled, now: head.now })));
    }
    return { settled, now: head.now, leave: () => this.#leave() };
  }

  /**
   * Changes of an organization after a position, from memory where they are kept.
   *
   * @returns the changes, and how far they go: to the end of what is known, or as far as fits into one answer. That can be before the
   *   position: its client had it from a node that has read more.
   */
  async read(query: Query, organizationId: string, position: Position): Promise<FeedRange> {
    // Of the record that memory begins after, too, a stream may have had a part only.
    if (isAfterPosition(positionAfterRecord(this.#from), position)) {
      // Also the record of the position, if its later changes are still to come.
      const isInside = isAfterPosition(positionAfterRecord(position.sequence), position);
      const before = isInside ? position.sequence - 1n : position.sequence;
      const stretch = await readChanges(query, {
        after: before,
        upTo: this.#from,
        organizationId,
        most: BEHIND_AT_ONCE,
      });
      return { ...stretch, changes: stretch.changes.filter((change) => isAfterPosition(change, position)) };
    }
    const changes: Change[] = [];
    for (let at = firstAfter(this.#kept, position); at < this.#kept.length; at += 1) {
      const change = this.#kept[at] as Change;
      if (change.organizationId === organizationId) changes.push(change);
      // Whole records: the next stretch begins after one.
      if (changes.length >= AT_ONCE && this.#kept[at + 1]?.sequence !== change.sequence)
        return { changes, upTo: change.sequence };
    }
    return { changes, upTo: this.#upTo };
  }

  /** Waits until there is more than that, at most so long. */
  async wait(upTo: bigint, signal: AbortSignal, maxMs: number): Promise<void> {
    if (this.#upTo > upTo || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxMs).unref();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }

  #leave(): void {
    this.#streams -= 1;
  }

  async #poll({ database, log }: Following, { settled, now }: Head): Promise<void> {
    const query = database.everywhere;
    this.#kept = [];
    this.#from = settled;
    this.#upTo = settled;
    this.#now = now;
    let isFailing = false;
    while (this.#streams > 0) {
      try {
        await this.#advance(query, log);
        isFailing = false;
      } catch (error) {
        // It is tried again: streams wait meanwhile. Said once, not four times a second.
        if (!isFailing) log?.warn('change feed not read', describeError(error));
        isFailing = true;
      }
      await delay(POLL_MS, undefined, { ref: false });
    }
  }

  async #advance(query: Query, log: Following['log']): Promise<void> {
    const [head] = await findSealedSequence(query, {});
    if (head === undefined) return;
    this.#now = head.now;
    const settled = BigInt(head.sequence);
    while (this.#upTo < settled) {
      const read = { after: this.#upTo, upTo: settled, organizationId: null, most: AT_ONCE };
      const { changes, upTo } = await readAround(query, read, log);
      // One by one: a record can be about more secrets than a call takes arguments.
      for (const change of changes) this.#kept.push(change);
      this.#upTo = upTo;
      this.#forget();
      for (const wake of [...this.#waiting]) wake();
    }
  }

  #forget(): void {
    const beyond = this.#kept.length - MOST_KEPT;
    if (beyond <= 0) return;
    const last = this.#kept[beyond - 1] as Change;
    // Whole records: a position within one that is kept in part would miss the rest.
    this.#kept = this.#kept.slice(firstAfter(this.#kept, { sequence: last.sequence, index: Number.MAX_SAFE_INTEGER }));
    this.#from = last.sequence;
  }
}

/**
 * Reads changes of all organizations. A record whose changes cannot be read is passed over here, so that it holds up nobody's stream but
 * of those who read the trail of its organization themselves; as much as comes before it is read alone.
 */
async function readAround(query: Query, range: ChangeRange, log: Following['log']): Promise<FeedRange> {
  const { after: last, upTo } = range;
  try {
    return await readChanges(query, range);
  } catch (error) {
    if (!failedOnData(error)) throw error;
    if (upTo - last > 1n) return readAround(query, { ...range, upTo: last + (upTo - last) / 2n }, log);
    log?.warn('change not readable', { sequence: String(upTo), ...describeError(error) });
    return { changes: [], upTo };
  }
}

/** Place of the first change after a position. */
function firstAfter(changes: readonly Change[], position: Position): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAfterPosition(changes[middle] as Change, position)) high = middle;
    else low = middle + 1;
  }
  return low;
}
