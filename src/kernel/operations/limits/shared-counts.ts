import { createHmac } from 'node:crypto';
import type { Database, Query } from '../../database/database.js';
import { failedOnData } from '../../errors.js';
import { describeError, type Log } from '../../log.js';
import { periodically } from '../../periodic.js';
import { storeTogether } from '../../storing-together.js';
import type { Bucket, Buckets } from './buckets.js';
import { deleteOldCounts, exchangeCounts } from './rate-limit-count.sql.js';
import { SLOTS } from './sliding-count.js';

const PAUSE_MS = 500;
/** Between exchanges that cannot wait, so that a busy node sends dozens a second and not thousands. */
const SHORT_PAUSE_MS = 10;
const MAINTENANCE_PAUSE_MS = 15_000;
/** In one statement. */
const MAX_BUCKETS = 2_000;
const KEY_BYTES = 16;

/** What is sent of a bucket. */
interface Sent {
  readonly bucket: Bucket;
  readonly key: Buffer;
  readonly parts: (readonly [slot: number, amount: number])[];
}

/**
 * Tells the other nodes what this one counted, and learns what they did, through Postgres and in the background: no request
 * waits for it. While the database is unavailable, each node counts on its own.
 */
export class SharedCounts {
  #running: Promise<void> | null = null;
  /** Something became due while an exchange was under way. */
  #isDueAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #stops: (() => Promise<void>)[] = [];
  #hasFailed = false;
  /** The last exchange failed as a whole. */
  #isAway = false;

  /** @param key names buckets in the table, which must not tell who was there: an address is personal */
  constructor(
    private readonly buckets: Buckets,
    private readonly database: Database,
    private readonly key: Buffer,
    private readonly log: Log,
  ) {}

  /** Learns the clock of the database, and begins. */
  async start(): Promise<void> {
    await this.#exchange();
    this.buckets.onDue = () => this.#soon();
    this.#stops = [
      periodically('rate limits', PAUSE_MS, () => this.#exchangeChanges(), this.log),
      periodically('old rate limits', MAINTENANCE_PAUSE_MS, () => this.#tidy(), this.log),
    ];
  }

  /** Tells the others what they have not heard of yet, and stops. */
  async close(): Promise<void> {
    this.buckets.onDue = () => undefined;
    clearTimeout(this.#timer);
    for (const stop of this.#stops) await stop();
    await this.#running;
    await this.#exchangeChanges();
  }

  #soon(): void {
    if (this.#running !== null) this.#isDueAgain = true;
    if (this.#timer !== undefined || this.#running !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#exchangeChanges();
    }, SHORT_PAUSE_MS).unref();
  }

  /** One at a time: what comes meanwhile goes with the next. */
  async #exchangeChanges(): Promise<void> {
    if (this.#running !== null || !this.buckets.hasChanged) return;
    this.#running = this.#exchange().finally(() => {
      this.#running = null;
      if (this.#isDueAgain) this.buckets.onDue();
      this.#isDueAgain = false;
    });
    await this.#running;
  }

  /** Never fails: counts that could not be shared are shared the next time. */
  async #exchange(): Promise<void> {
    const { buckets } = this;
    const changed = buckets.takeChanged(MAX_BUCKETS);
    const sent = changed.map((bucket) => ({ bucket, key: this.#keyOf(bucket), parts: bucket.count.send(buckets.now) }));
    let failure: unknown;
    const exchange = async (some: readonly Sent[]): Promise<void> => {
      const counts = await this.database
        .withConnection((query) => this.#send(query, some))
        .catch((error: unknown) => {
          failure = error;
          throw error;
        });
      for (const { bucket } of some) {
        bucket.count.settle(buckets.now, counts.get(bucket) ?? new Map());
        bucket.isShared = true;
      }
    };
    await storeTogether(sent, exchange, ({ bucket }, result) => {
      if (result.status === 'fulfilled') return;
      bucket.count.settle(buckets.now, null);
      buckets.keepChanged([bucket]);
    });
    // Once for each time that the database is away, and not twice a second.
    if (failure !== undefined && !this.#hasFailed)
      this.log.warn('shared rate limits unavailable', describeError(failure));
    this.#hasFailed = failure !== undefined;
    this.#isAway = failure !== undefined && !failedOnData(failure);
  }

  async #send(query: Query, sent: readonly Sent[]): Promise<Map<Bucket, Map<number, number>>> {
    const { buckets } = this;
    const rows = sent.flatMap(({ key, parts }) => parts.map(([slot, amount]) => ({ key, slot, amount })));
    const before = buckets.now;
    const [answer] = await exchangeCounts(query, {
      buckets: rows.map(({ key }) => key),
      slots: rows.map(({ slot }) => String(slot)),
      amounts: rows.map(({ amount }) => amount),
      slotMs: buckets.slotMs,
      asked: sent.map(({ key }) => key),
      after: String(Math.floor(before / buckets.slotMs) - SLOTS),
    });
    if (answer === undefined) throw new Error('the database did not return the counts');
    // As if the answer was made in the middle of the time that it took.
    buckets.clockAheadMs += answer.now - (before + buckets.now) / 2;
    const counts = new Map<Bucket, Map<number, number>>();
    for (const [position, slot, amount] of answer.counts) {
      const { bucket } = sent[position] as { bucket: Bucket };
      counts.set(bucket, (counts.get(bucket) ?? new Map<number, number>()).set(slot, amount));
    }
    return counts;
  }

  async #tidy(): Promise<void> {
    this.buckets.sweep();
    if (this.#isAway) return;
    await deleteOldCounts(this.database.inBackground, {});
  }

  /** Nodes with another window count in other parts of time, and so apart. */
  #keyOf({ name }: Bucket): Buffer {
    const { seconds } = this.buckets.settings;
    return createHmac('sha256', this.key).update(`${seconds} ${name}`).digest().subarray(0, KEY_BYTES);
  }
}
