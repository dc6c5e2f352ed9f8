import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Query } from '../database/database.js';
import { inOwnTransaction } from '../database/on-connection.js';
import type { Session } from '../database/session.js';
import { TRY_LOCK } from '../database/session.sql.js';
import { describeError, type Log } from '../log.js';
import { periodically } from '../periodic.js';
import type { AuditChain, ChainHead } from './audit-chain.js';
import { findSealState, insertSeal, listRowsToSeal, listWriters } from './audit-seal.sql.js';

/** Any constant will do, as long as no other program in the same database takes it. */
const SEALER_LOCK = '7266002';
const PAUSE_MS = 500;
/** The same while no request comes, for what jobs write, and what other nodes leave. */
const QUIET_MS = 1_500;
/** Small enough that sealing them holds up no request of this node for long. */
const MAX_ROWS = 2_000;
const ANCHOR_MS = 60_000;
const LAST_TRIES = 20;
const LAST_PAUSE_MS = 50;

/** Rows up to a sequence, and the transactions that may still add some below it. */
interface Horizon {
  readonly upTo: bigint;
  readonly writers: ReadonlySet<string | null>;
}

/**
 * Seals the audit trail, behind everybody's back: no request waits for it. All nodes try, and a lock that ends with its
 * transaction lets one at a time; a node that stalls while it holds it loses both, and leaves nothing half done.
 *
 * Numbers are given out before the commit, so that a row may appear below others that are there already. A seal reaches no
 * further than where nobody can add any more: to the last number given out at a moment, once all who were writing to the
 * table by then have ended. Rows of a transaction that hangs, and all after them, stay unsealed until the timeouts of the
 * database end it; that shows in the metrics.
 */
export class AuditSealer {
  #head: ChainHead | null = null;
  #horizon: Horizon | null = null;
  /** On the clock of `performance.now()`, so that it ages while the database is away. */
  #oldestUnsealedAt: number | null = null;
  /** Statements of requests up to the last look, and when that was. */
  #looked = { at: Number.NEGATIVE_INFINITY, statements: -1 };
  #anchored = { at: -ANCHOR_MS, number: 0n };
  readonly #stop: () => Promise<void>;

  /** Starts at once. */
  constructor(
    private readonly database: Database,
    private readonly chain: AuditChain,
    private readonly log: Log,
  ) {
    this.#stop = periodically('audit seals', PAUSE_MS, () => this.#run(), log);
  }

  /** For the metrics: how long the oldest unsealed row waits, and the number of the last seal. */
  get figures(): { readonly unsealedSeconds: number; readonly lastSeal: number } {
    const since = this.#oldestUnsealedAt;
    return {
      unsealedSeconds: since === null ? 0 : (performance.now() - since) / 1_000,
      lastSeal: Number(this.#head?.number ?? 0),
    };
  }

  /** Seals what is there, and stops. Called once, when this node writes no more rows. */
  async close(): Promise<void> {
    await this.#stop();
    try {
      for (let tries = 0; tries < LAST_TRIES; tries += 1) {
        await this.#seal();
        if (this.#oldestUnsealedAt === null) break;
        await delay(LAST_PAUSE_MS);
      }
    } catch (error) {
      // Other nodes, or the next start, seal what is left.
      this.log.warn('audit trail not sealed', describeError(error));
    }
    this.#logAnchor();
  }

  async #run(): Promise<void> {
    const [at, statements] = [performance.now(), this.database.statements.request];
    const isQuiet = this.#oldestUnsealedAt === null && statements === this.#looked.statements;
    if (isQuiet && at - this.#looked.at < QUIET_MS) return;
    this.#looked = { at, statements };
    await this.#seal();
    if (performance.now() - this.#anchored.at >= ANCHOR_MS) this.#logAnchor();
  }

  /** Whoever cuts off the end of the trail cannot cut it off the logs. */
  #logAnchor(): void {
    const head = this.#head;
    if (head === null || head.number === this.#anchored.number) return;
    this.#anchored = { at: performance.now(), number: head.number };
    this.log.info('audit head', { anchor: `${head.number}:${head.mac.toString('hex')}` });
  }

  async #seal(): Promise<void> {
    const newest = await this.#look(this.database.inBackground);
    if (this.#oldestUnsealedAt === null) return;
    await this.database.withConnection(async (query, session) => {
      const settled = await this.#settle(query, newest);
      if (settled === null) return;
      while (await this.#sealRows(session, settled));
      await this.#look(query);
    });
  }

  /** Notes how far the trail is sealed, and answers the last number that was given out. */
  async #look(query: Query): Promise<bigint> {
    const [state] = await findSealState(query, {});
    if (state === undefined) throw new Error('a query for one row returned none');
    this.#head =
      state.number === null || state.last === null || state.mac === null
        ? null
        : { number: BigInt(state.number), last: BigInt(state.last), mac: state.mac };
    this.#oldestUnsealedAt = state.age === null ? null : performance.now() - Math.max(0, state.age) * 1_000;
    return BigInt(state.newest ?? 0);
  }

  /**
   * How far the trail can be sealed; null: not at the moment.
   *
   * @param newest was asked for before, so that whoever has drawn a number up to it and not ended is among the writers
   */
  async #settle(query: Query, newest: bigint): Promise<bigint | null> {
    const writers = new Set((await listWriters(query, {})).map(({ writer }) => writer));
    const before = this.#horizon;
    // On a busy node somebody always writes. It is enough that those have ended who wrote at the time before.
    const isPast = before === null || ![...before.writers].some((writer) => writers.has(writer));
    if (isPast) this.#horizon = { upTo: newest, writers };
    if (writers.size === 0) return newest;
    return isPast ? (before?.upTo ?? null) : null;
  }

  /** Makes one seal. False when there is nothing left to seal, or another node does it. */
  #sealRows(session: Session, settled: bigint): Promise<boolean> {
    return inOwnTransaction(session, () => this.#sealLocked(session.query, settled));
  }

  async #sealLocked(query: Query, settled: bigint): Promise<boolean> {
    const [lock] = await query<{ held: boolean }>(TRY_LOCK, [SEALER_LOCK]);
    if (lock?.held !== true) return false;
    // Under the lock: another node may have sealed in between.
    await this.#look(query);
    const head = this.#head;
    const after = String(head?.last ?? 0n);
    const rows = await listRowsToSeal(query, { after, last: String(settled), limit: MAX_ROWS });
    const newest = rows.at(-1);
    if (newest === undefined) return false;
    const isMore = rows.length === MAX_ROWS;
    const seal = this.chain.seal(head, {
      rows: rows.map(({ sequence, time, expiresOn, mac }) => ({
        sequence: BigInt(sequence),
        occurredAt: time,
        expiresOn,
        mac,
      })),
      last: isMore ? BigInt(newest.sequence) : settled,
      sealedAt: newest.now,
    });
    await insertSeal(query, {
      ...seal,
      number: String(seal.number),
      after: String(seal.after),
      last: String(seal.last),
    });
    return isMore;
  }
}
