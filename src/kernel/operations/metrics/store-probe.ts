import { setTimeout as delay } from 'node:timers/promises';
import { measureKeys } from '../../crypto/data-key.sql.js';
import type { Database, Query } from '../../database/database.js';
import { inOwnTransaction } from '../../database/on-connection.js';
import type { Session } from '../../database/session.js';
import { BEGIN_READ_ONLY, setLocalLimit } from '../../database/session.sql.js';
import type { RowFrom } from '../../database/statement.js';
import { listKinds } from '../../jobs/job.sql.js';
import { SingleFlight } from '../../once.js';
import { measureTrail } from './trail-size.sql.js';

const RESPONSE_WITHIN_MS = 1_000;
/** Less than that: figures that take longer are passed over. */
const STORED_WITHIN_MS = 500;
const FRESH_MS = 15_000;
/** Figures of slices that take long are read less often: at most for this part of the time. */
const MOST_OF_TIME = 0.05;
/** A database that is away is asked again sooner. */
const RETRY_MS = 1_000;

interface Reading {
  readonly isUp: boolean;
  readonly keys: KeyFigures | null;
  /** By kind. */
  readonly jobs: readonly JobCounts[];
  /** Size of the audit trail. */
  readonly trail: TrailSize | null;
  /** Rows of gauges of slices. */
  readonly stored: ReadonlyMap<StoredGauges, readonly object[]>;
}

/** Keys that seal at present. */
export type KeyFigures = RowFrom<typeof measureKeys>;
/** How large the audit trail is. */
export type TrailSize = RowFrom<typeof measureTrail>;
type JobCounts = RowFrom<typeof listKinds>;

const AWAY: Reading = { isUp: false, keys: null, jobs: [], trail: null, stored: new Map() };

/** Asks the database what only it knows, at most every 15 s however many ask, and never holds who asks for over a second. */
export class StoreProbe {
  #last: Reading = AWAY;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #reading = new SingleFlight(() => this.#ask(), RESPONSE_WITHIN_MS);
  #stored: Reading['stored'] = AWAY.stored;
  #storedNextAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly gauges: readonly StoredGauges[],
  ) {}

  async read(): Promise<Reading> {
    if (performance.now() - this.#readAt < (this.#last.isUp ? FRESH_MS : RETRY_MS)) return this.#last;
    return this.#reading.result(AWAY);
  }

  async #ask(): Promise<Reading> {
    const found = await this.database
      .withConnection(async (query) => ({
        isUp: true,
        keys: (await measureKeys(query, {}))[0] ?? null,
        jobs: await listKinds(query, {}),
        trail: (await measureTrail(query, {}))[0] ?? null,
      }))
      .catch(() => null);
    // Figures of slices may take long or wait for a lock, which says nothing of the database: those of before stand meanwhile.
    if (found !== null) await Promise.race([this.#readStored(), delay(STORED_WITHIN_MS, null, { ref: false })]);
    this.#last = found === null ? AWAY : { ...found, stored: this.#stored };
    this.#readAt = performance.now();
    return this.#last;
  }

  async #readStored(): Promise<void> {
    const begun = performance.now();
    if (begun < this.#storedNextAt) return;
    // While they are read nobody else reads them, however long that takes.
    this.#storedNextAt = Number.POSITIVE_INFINITY;
    const stored = await this.database
      .withConnection((_, session) => readStored(session, this.gauges))
      .catch(() => null);
    const ended = performance.now();
    this.#storedNextAt = stored === null ? ended : ended + (ended - begun) / MOST_OF_TIME - FRESH_MS;
    this.#stored = stored ?? this.#stored;
  }
}

/** Without waiting for locks: figures must not hold connections that requests need. */
function readStored(session: Session, gauges: readonly StoredGauges[]): Promise<Reading['stored']> {
  const read = async (): Promise<Reading['stored']> => {
    await session.query(setLocalLimit('lock_timeout', 1));
    const stored = new Map<StoredGauges, readonly object[]>();
    for (const each of gauges) stored.set(each, await each.read(session.query));
    return stored;
  };
  return inOwnTransaction(session, read, { begin: BEGIN_READ_ONLY });
}

/** Gauges that a slice reads from the database for the metrics in one statement, at most every 15 s. Each row has one sample of each. */
export interface StoredGauges<Row extends object = object> {
  readonly read: (query: Query) => Promise<readonly Row[]>;
  /** Columns of the rows, in the order of the names of labels. Their values are words of ours, and few. */
  readonly labels: Readonly<Record<string, keyof Row & string>>;
  readonly gauges: readonly StoredGauge<Row>[];
}

/** A gauge of them. */
interface StoredGauge<Row> {
  readonly name: string;
  readonly help: string;
  /** Null: there is nothing to measure, and the sample is left out. */
  readonly value: (row: Row) => number | null;
}

/** Declares gauges. */
export const storedGauges = <Row extends object>(gauges: StoredGauges<Row>): StoredGauges => gauges as never;
