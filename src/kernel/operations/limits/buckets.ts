import { LRUCache } from 'lru-cache';
import { callersNetwork } from '../../addresses.js';
import type { LimitName, RateLimitSettings } from './settings.js';
import { SLOTS, SlidingCount } from './sliding-count.js';

/** Memory has an end: beyond this many the one that was used least lately is forgotten. */
const MAX_BUCKETS = 50_000;
/** Part of a limit that a node uses before it shares its count immediately. */
const AT_ONCE_PART = 0.05;

/** One limit of one token, client or address. */
export class Bucket {
  readonly count: SlidingCount;
  /** Whether the database was asked what the others took. */
  isShared = false;

  constructor(
    readonly limit: LimitName,
    readonly quota: number,
    /** Names it among all buckets: the limit, the kind of caller, the caller. */
    readonly name: string,
    slotMs: number,
  ) {
    this.count = new SlidingCount(slotMs);
  }
}

/** Who calls, where that is not known by a token. All without an address are one. */
export const addressOf = ({ address }: { readonly address: string | null }): string =>
  `address:${address === null ? 'none' : callersNetwork(address)}`;

/** Something taken from a bucket, which can be given back. */
export interface CountedUse {
  readonly bucket: Bucket;
  readonly slot: number;
  readonly amount: number;
}

/** The buckets of this node: only those that took something in the last window. */
export class Buckets {
  /** Used when something is taken from them. */
  readonly #all = new LRUCache<string, Bucket>({
    // Not `max`, which takes the room for all of them at once.
    maxSize: MAX_BUCKETS,
    sizeCalculation: () => 1,
    dispose: (bucket, _, reason) => {
      if (reason !== 'set') this.#changed.delete(bucket);
    },
  });
  readonly #changed = new Set<Bucket>();
  readonly slotMs: number;
  /** What the clock of the database is ahead of this node's, in milliseconds. */
  clockAheadMs = 0;
  /** Called when the other nodes should hear of a bucket soon. */
  onDue: () => void = () => undefined;

  constructor(readonly settings: RateLimitSettings) {
    this.slotMs = (settings.seconds * 1000) / SLOTS;
  }

  get now(): number {
    return performance.timeOrigin + performance.now() + this.clockAheadMs;
  }

  get size(): number {
    return this.#all.size;
  }

  /**
   * The bucket of a caller. A new one takes memory only once something is taken from it: a caller who is refused for another limit
   * must not push out those of others with names that it makes up.
   *
   * @param caller `token:ID`, `client:ID`, `actor:ID` or `address:ADDRESS`; always with the same number of limits
   */
  find(limit: LimitName, caller: string, limits = 1): Bucket {
    const name = `${limit} ${caller}`;
    return this.#all.peek(name) ?? new Bucket(limit, limits * this.settings.quotas[limit], name, this.slotMs);
  }

  /** How often more the bucket gives now. */
  room({ count, quota }: Bucket): number {
    return Math.max(0, quota - count.used(this.now));
  }

  /** Takes an amount, whether there is room for it or not. */
  take(bucket: Bucket, amount: number): CountedUse {
    const slot = bucket.count.take(this.now, amount);
    this.#all.set(bucket.name, bucket);
    this.#changed.add(bucket);
    if (!bucket.isShared || bucket.count.unsent > bucket.quota * AT_ONCE_PART) this.onDue();
    return { bucket, slot, amount };
  }

  giveBack({ bucket, slot, amount }: CountedUse): void {
    bucket.count.giveBack(slot, amount);
    this.keepChanged([bucket]);
  }

  /** Some of the buckets that changed since the last time. They are changed no more. */
  takeChanged(most: number): Bucket[] {
    const some: Bucket[] = [];
    for (const bucket of this.#changed) {
      if (some.length === most) break;
      some.push(bucket);
      this.#changed.delete(bucket);
    }
    return some;
  }

  /** They are to be sent again. */
  keepChanged(buckets: readonly Bucket[]): void {
    for (const bucket of buckets) if (this.#all.has(bucket.name)) this.#changed.add(bucket);
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Forgets buckets of which nothing counts any more. */
  sweep(): void {
    for (const [name, bucket] of [...this.#all])
      if (bucket.count.used(this.now) === 0 && !this.#changed.has(bucket)) this.#all.delete(name);
  }
}

/** A limit, whose, how much, and how many limits together the caller has. */
export type LimitedUse = readonly [limit: LimitName, caller: string, amount?: number, limits?: number];
