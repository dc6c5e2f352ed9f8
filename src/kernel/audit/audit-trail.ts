import { createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Context, Transaction } from '../context.js';
import { pipelined, type Query } from '../database/database.js';
import { atOnce } from '../database/in-transaction.js';
import { AppError, toAppError } from '../errors.js';
import { storeTogether } from '../storing-together.js';
import type { AuditChain } from './audit-chain.js';
import { type AuditEvent, type AuditFacts, auditRecord, insertOf, type NewRecord } from './audit-record.js';
import type { TrailReport } from './audit-verifier.js';
import { type Disclosure, isList } from './disclosure.js';
import type { Retention } from './retention.js';
import { type Verification, verifyTrail } from './verify-trail.js';

const MAX_BATCH = 64;
const MAX_WAIT_MS = 2;
const MAX_QUEUE = 10_000;
const MAX_RESPONSE_MS = 2_000;
/** Inserts at once. Where the table is locked they wait for it, and must not take the connections that all else needs. */
const MAX_INSERTS = 3;
/** Lists of disclosed ids that a node remembers to be in the trail. */
const MAX_LISTED = 10_000;

interface Waiting {
  /** Those of one call: they are stored by one insert. */
  readonly records: readonly NewRecord[];
  readonly disclosures: readonly Disclosure[];
  /** `performance.now()` when they were recorded. */
  readonly since: number;
  readonly stored: () => void;
  readonly failed: (error: AppError) => void;
  /** Its request was refused because it took too long: nothing was disclosed, so there is nothing to record. */
  isRefused: boolean;
}

/**
 * The audit trail of this node. Changes are recorded in their own transaction; reads and denials are queued, and many
 * requests share one insert. Either way, the response is sent only after the commit.
 */
export class AuditTrail {
  #queue: Waiting[] = [];
  /** Ends the wait of what is queued. */
  #stopWaiting: (() => void) | null = null;
  /** Batches that are being inserted. An array: the tables that a set leaves behind would keep them and their requests for long. */
  #flushing: (readonly Waiting[])[] = [];
  /** Reads of each request that wait to be stored, by what is recorded of them. */
  readonly #ofRequests = new WeakMap<object, Map<string, Promise<void>>>();
  /** Names of lists that the trail has. Not `max`, which takes the room for all of them at once. */
  readonly #listed = new LRUCache<string, true>({ maxSize: MAX_LISTED, sizeCalculation: () => 1 });
  readonly #key: KeyObject;

  /**
   * @param store a statement outside of any transaction
   * @param key of the row MACs
   * @param retention of records whose project does not say
   * @param onChange called in the transaction of each change, with its records
   */
  constructor(
    private readonly store: Query,
    key: Buffer,
    private readonly retention: Retention,
    private readonly onChange: (tx: Transaction, events: readonly AuditEvent[]) => Promise<void> = async () => {},
  ) {
    this.#key = createSecretKey(key);
  }

  /**
   * Records a change with the change: both or neither.
   *
   * @throws AUDIT_UNAVAILABLE at the latest when the transaction commits, which rolls the change back
   */
  async recordChange(tx: Transaction, ...events: AuditEvent[]): Promise<void> {
    tx.recorded?.push(...events);
    const [first, ...others] = events;
    // The states are not added to `recorded`: repeating a response from there changes nothing again.
    const carrying = first === undefined ? [] : [{ ...first, facts: { ...first.facts, ...statesOf(tx) } }];
    const { text, params } = insertOf(
      [...carrying, ...others].map((event) => auditRecord(tx, event, { isChange: true, retention: this.retention })),
      {
        key: this.#key,
        changed: events.some(({ showsInProjects }) => showsInProjects) ? 'organization' : 'projects',
        // Never remembered: the change may still be rolled back.
        disclosures: disclosuresOf(events),
      },
    );
    const recorded = pipelined(tx, unavailable)(text, params);
    if (first !== undefined) tx.states.length = 0;
    await atOnce(recorded, this.onChange(tx, events));
  }

  /**
   * Records reads (or a denial) and waits until they are stored, all by one statement. Where fields of one response reach the same
   * thing at once, it is recorded once.
   *
   * @throws AUDIT_UNAVAILABLE when it is not stored within two seconds; then nothing may be disclosed
   */
  recordRead(ctx: Context, ...events: AuditEvent[]): Promise<void> {
    if (events.length === 0) return Promise.resolve();
    const [first] = events;
    // What shows values names them each time.
    if (ctx.load === undefined || events.length > 1 || first?.disclosed != null) return this.#record(ctx, events);
    const ofRequest = this.#ofRequests.get(ctx.load) ?? new Map<string, Promise<void>>();
    this.#ofRequests.set(ctx.load, ofRequest);
    const text = JSON.stringify(first);
    const waiting = ofRequest.get(text);
    if (waiting !== undefined) return waiting;
    const recorded = this.#record(ctx, events).finally(() => ofRequest.delete(text));
    ofRequest.set(text, recorded);
    return recorded;
  }

  #record(ctx: Context, events: readonly AuditEvent[]): Promise<void> {
    ctx.recorded?.push(...events);
    if (this.#queue.length >= MAX_QUEUE) return Promise.reject(unavailable());
    return new Promise<void>((resolve, reject) => {
      const deadline = setTimeout(() => {
        waiting.isRefused = true;
        reject(unavailable());
      }, MAX_RESPONSE_MS);
      const waiting: Waiting = {
        records: events.map((event) => auditRecord(ctx, event, { isChange: false, retention: this.retention })),
        disclosures: disclosuresOf(events),
        since: performance.now(),
        stored: () => {
          clearTimeout(deadline);
          resolve();
        },
        failed: (error) => {
          clearTimeout(deadline);
          reject(error);
        },
        isRefused: false,
      };
      this.#queue.push(waiting);
      this.#schedule();
    });
  }

  /** Records of reads that are not stored yet, those that are being inserted too. */
  get waiting(): { readonly count: number; readonly oldestMs: number } {
    const batches = [...this.#flushing, this.#queue];
    const oldest = Math.min(...batches.flatMap(([first]) => first?.since ?? []));
    return {
      count: batches.flat().reduce((sum, { records }) => sum + records.length, 0),
      oldestMs: oldest === Number.POSITIVE_INFINITY ? 0 : performance.now() - oldest,
    };
  }

  /** Verifies the whole trail. @param read in a transaction, of `inSnapshot` */
  verify(read: Query, chain: AuditChain, how: Verification): Promise<TrailReport> {
    return verifyTrail(read, { chain, key: this.#key }, how);
  }

  /** Stores what is queued. Called once, when no request runs any more. */
  async close(): Promise<void> {
    while (this.#queue.length > 0) await this.#flush();
  }

  /** What comes in a turn goes together. While an insert is under way, the next batch gathers for a moment. */
  #schedule(): void {
    // The end of each insert schedules the next one.
    if (this.#flushing.length >= MAX_INSERTS) return;
    if (this.#queue.length >= MAX_BATCH) void this.#flush();
    else this.#stopWaiting ??= this.#flushing.length === 0 ? soon(this.#flush) : later(MAX_WAIT_MS, this.#flush);
  }

  readonly #flush = async (): Promise<void> => {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
    this.#queue = this.#queue.filter(({ isRefused }) => !isRefused);
    const batch = this.#queue.splice(0, MAX_BATCH);
    if (batch.length === 0) return;
    this.#flushing.push(batch);
    await storeTogether(
      batch,
      // Those that were refused while others were stored apart are not stored any more.
      (some) => this.#storeReads(some.filter(({ isRefused }) => !isRefused)),
      ({ stored, failed }, result) => (result.status === 'fulfilled' ? stored() : failed(unavailable(result.reason))),
    );
    this.#flushing = this.#flushing.filter((other) => other !== batch);
    if (this.#queue.length > 0) this.#schedule();
  };

  async #storeReads(waiting: readonly Waiting[]): Promise<void> {
    if (waiting.length === 0) return;
    const records = waiting.flatMap((one) => one.records);
    const all = waiting.flatMap((one) => one.disclosures);
    const attempt = async (disclosures: readonly Disclosure[]): Promise<boolean> => {
      const { text, params } = insertOf(records, { key: this.#key, changed: 'nothing', disclosures });
      const missing = await this.store(text, params);
      return missing.length === 0;
    };
    const unlisted = all.filter(({ name }) => !this.#listed.has(name));
    if (!(await attempt(unlisted)) && !(await attempt(all)))
      throw new Error('a list of disclosed IDs is missing from the trail');
    for (const disclosure of unlisted) if (isList(disclosure)) this.#listed.set(disclosure.name, true);
  }
}

/** In this turn of the event loop, when all that has come was read. @returns what stops it */
function soon(work: () => unknown): () => void {
  const immediate = setImmediate(work);
  return () => clearImmediate(immediate);
}

/** @returns what stops it */
function later(waitMs: number, work: () => unknown): () => void {
  const timer = setTimeout(work, waitMs);
  return () => clearTimeout(timer);
}

const disclosuresOf = (events: readonly AuditEvent[]): Disclosure[] =>
  events.flatMap(({ disclosed }) => disclosed ?? []);

const statesOf = ({ states }: Transaction): AuditFacts => (states.length === 0 ? {} : { states: [...states] });

/** STORE_UNAVAILABLE when the database is away: then not only the trail is. */
const unavailable = (cause?: unknown): AppError =>
  new AppError(toAppError(cause).code === 'STORE_UNAVAILABLE' ? 'STORE_UNAVAILABLE' : 'AUDIT_UNAVAILABLE', undefined, {
    cause,
  });
