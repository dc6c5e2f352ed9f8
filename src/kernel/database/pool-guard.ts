import pg from 'pg';
import { describeError, type Log } from '../log.js';
import { isInBackground } from './background.js';
import { BoundedClient, type Loan, NO_POOLER, type Pooler, type Watch } from './bounded-client.js';
import { ConnectionLost } from './connection-error.js';
import type { PooledClient } from './session.js';
import { PING } from './session.sql.js';
import { type PoolLimits, TIME_LIMITS } from './time-limits.js';

const CHECK_MS = 100;
/** A check that comes later than this was held up by a blocked event loop: responses may wait there to be read. */
const LONGEST_STEP_MS = 250;
/** So many connections are opened at a time: twenty together would take much longer than others take to come back. */
const OPENING_AT_ONCE = 2;
/** Texts of the entity manager that are prepared, each of which takes memory on every connection. Later ones are not. */
const MOST_GENERATED = 500;
/** Longer ones insert many rows: there is one for each number of them. */
const LONGEST_GENERATED = 4_000;

type Connected = (error: Error | undefined, client?: PooledClient, release?: unknown) => void;

/** Connections of the pool by state; waiting are callers without one. */
export interface ConnectionFigures {
  readonly open: number;
  readonly idle: number;
  readonly held: number;
  readonly waiting: number;
}

/**
 * Watches over a pool of connections. Every place in it comes back, whatever the holder of its connection does:
 *
 * - a connection that ends gives its place back at once, and not when its holder lets go of it,
 * - one that is not fit for the next holder is closed when it is given back,
 * - one without a response within the deadline is destroyed; others that have been silent for as long get little more time,
 *   and idle ones are closed, since they may have been cut off as well,
 * - one that somebody holds and does not use is taken away, and counted as a leak.
 */
export class PoolGuard implements Watch {
  clock = 0;
  /** Connections that were never given back. */
  leaks = 0;
  isPooled: boolean;
  sharesSessions: boolean;
  readonly keepsStatements: boolean;
  /** Nobody gets a connection, although the database has some to give: only a restart helps. */
  isStarved = false;
  isDiskFull = false;
  readonly #open = new Set<BoundedClient>();
  /** Those of which nobody knows yet whether the server accepts them. */
  readonly #opening = new Set<BoundedClient>();
  /** The class of the pool's connections. */
  readonly Client: typeof pg.Client;
  readonly #log: Log;
  readonly limits: PoolLimits;
  #adopted: pg.Pool | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #statements = { request: 0, background: 0 };
  readonly #names = new Map<string, string>();
  /** How many of them are of the entity manager. */
  #generated = 0;
  #onWait: (milliseconds: number) => void = () => undefined;
  /** How many ask for work without limits at the moment. */
  #unlimited = 0;
  /** Time since which connections are asked for and nobody got one. */
  #unservedSince: number | null = null;
  #isProbing = false;
  #checkedAt = 0;

  constructor(log: Log, limits: PoolLimits, { sharesSessions, keepsStatements }: Pooler = NO_POOLER) {
    this.#log = log;
    this.limits = limits;
    this.isPooled = sharesSessions;
    this.sharesSessions = sharesSessions;
    this.keepsStatements = keepsStatements;
    const watch = this;
    this.Client = class extends BoundedClient {
      constructor(config: pg.ClientConfig) {
        super(config, watch);
      }
    } as typeof pg.Client;
  }

  /** The class of connections outside of the pool, which nobody watches over: a pooler takes no settings from their start either. */
  get Unwatched(): typeof pg.Client {
    const { isPooled, sharesSessions, keepsStatements } = this;
    const nothing = (): undefined => undefined;
    const events = { count: nothing, nameOf: nothing, prepareGenerated: nothing, opened: nothing, ended: nothing };
    const watch: Watch = { isPooled, sharesSessions, keepsStatements, clock: 0, isDiskFull: false, ...events };
    return class extends BoundedClient {
      constructor(config: pg.ClientConfig) {
        super(config, watch);
      }
    } as typeof pg.Client;
  }

  /** Watches whenever somebody has or wants a connection. @param pool one that makes its connections of `Client` */
  adopt(pool: pg.Pool): void {
    this.#adopted = pool;
    const connect = pool.connect.bind(pool) as (callback: Connected) => void;
    pool.connect = ((callback?: Connected) => this.#connect(connect, callback)) as typeof pool.connect;
  }

  /** SQL statements sent since start, transaction control included: for requests, and for background tasks. */
  get statements(): { readonly request: number; readonly background: number } {
    return this.#statements;
  }

  get connections(): ConnectionFigures {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { open, idle, held: this.#loans.length, waiting };
  }

  /** How long the oldest loan lasts, but for those that may last. */
  get longestHoldMs(): number {
    const hurried = this.#loans.filter(({ client }) => !client.isPatient);
    return Math.max(0, ...hurried.map(({ since }) => this.#msSince(since)));
  }

  /** Tells how long each statement and each transaction has waited for a connection, in milliseconds. */
  onWait(report: (milliseconds: number) => void): void {
    this.#onWait = report;
  }

  /** Marks a text to be parsed and planned once on each connection. */
  prepare(text: string): void {
    if (!this.#names.has(text)) this.#names.set(text, `s${this.#names.size}`);
  }

  prepareGenerated(text: string): void {
    if (this.#names.has(text) || this.#generated === MOST_GENERATED || text.length > LONGEST_GENERATED) return;
    this.#generated += 1;
    this.prepare(text);
  }

  /** Work that may rightly take long, as migrations do: no deadline holds meanwhile. */
  async withoutLimits<T>(work: () => Promise<T>): Promise<T> {
    this.#unlimited += 1;
    try {
      return await work();
    } finally {
      this.#unlimited -= 1;
    }
  }

  /**
   * Opens all further connections differently, and closes those that are open: idle ones now, the others when they are given back.
   *
   * @param change what is different
   * @returns what undoes it
   */
  async reconnect(change: Readonly<Pick<pg.PoolConfig, 'connectionString' | 'options'>>): Promise<() => Promise<void>> {
    const { options } = this.#pool;
    const before = { connectionString: options.connectionString, options: options.options };
    Object.assign(options, change);
    await Promise.all([...this.#open].map((client) => client.retire()));
    return async () => void (await this.reconnect(before as typeof change));
  }

  /** Connections are made for a pooler from now on. */
  async behind({ sharesSessions }: Pick<Pooler, 'sharesSessions'>): Promise<void> {
    Object.assign(this, { isPooled: true, sharesSessions });
    await this.reconnect({});
  }

  /** Has all statements planned anew: on each connection that is open, when somebody next gets it. */
  renewPlans(): void {
    for (const client of this.#open) client.isOutgrown = true;
  }

  /** Stops watching, until somebody asks for a connection. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  count(client: BoundedClient): void {
    this.#statements[client.isBackground || isInBackground() ? 'background' : 'request'] += 1;
  }

  nameOf(text: string): string | undefined {
    return this.keepsStatements ? this.#names.get(text) : undefined;
  }

  opened(client: BoundedClient): void {
    this.#open.add(client);
    this.#opening.add(client);
    client.once('connect', () => {
      this.#opening.delete(client);
      this.#grow();
    });
  }

  ended(client: BoundedClient): void {
    this.#open.delete(client);
    this.#opening.delete(client);
    client.loan?.takeBack();
  }

  get #loans(): Loan[] {
    return [...this.#open].flatMap(({ loan }) => loan ?? []);
  }

  get #pool(): pg.Pool {
    if (this.#adopted === undefined) throw new Error('the guard has no pool yet');
    return this.#adopted;
  }

  /** Single statements ask by callback, everything else by promise. */
  #connect(connect: (callback: Connected) => void, callback?: Connected): Promise<BoundedClient> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.#connect(connect, (error, client) => (client === undefined ? reject(error) : resolve(client)));
      });
    }
    const since = performance.now();
    this.#watch(since);
    this.#unservedSince ??= this.clock;
    this.#setRoom();
    connect((error, client) => {
      this.#onWait(performance.now() - since);
      if (client === undefined) {
        // A server that refuses connections does not mean that the pool is starved.
        if (!isLateForPlace(error)) this.#unservedSince = null;
        return callback(coded(error));
      }
      this.#unservedSince = null;
      this.#lend(client);
      callback(undefined, client, client.release);
    });
    return undefined;
  }

  /** Bounds what the pool opens for those that ask. */
  #setRoom(): void {
    const opened = this.#pool.totalCount - this.#opening.size;
    this.#pool.options.max = Math.min(this.limits.connections, opened + OPENING_AT_ONCE);
  }

  /** Opens one more for those that wait, when one that was being opened is there. The pool itself would wait for somebody new to ask. */
  #grow(): void {
    this.#setRoom();
    const { waitingCount, idleCount, totalCount, options } = this.#pool;
    if (waitingCount === 0 || idleCount > 0 || totalCount >= options.max) return;
    void this.#pool.connect().then(
      (client) => client.release(),
      () => undefined,
    );
  }

  #lend(client: PooledClient): void {
    if (client.isOutgrown) client.replan();
    const { release } = client;
    const loan: Loan = {
      client,
      since: this.clock,
      isTakenBack: false,
      takeBack: () => {
        if (loan.isTakenBack) return;
        loan.isTakenBack = true;
        release.call(client, true);
      },
    };
    client.loan = loan;
    client.release = (error) => {
      if (client.loan === loan) client.loan = null;
      if (loan.isTakenBack) return;
      loan.isTakenBack = true;
      client.isBackground = false;
      client.isPatient = false;
      release.call(client, Boolean(error) || !client.isReusable);
    };
  }

  #msSince(time: number): number {
    return this.clock - time;
  }

  /** Begins to look at connections, unless it does already. */
  #watch(now: number): void {
    if (this.#timer !== undefined) return;
    this.#checkedAt = now;
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  #check(): void {
    const now = performance.now();
    this.clock += Math.min(now - this.#checkedAt, LONGEST_STEP_MS);
    this.#checkedAt = now;
    if (this.#unlimited > 0) return;
    for (const client of this.#open) this.#checkResponse(client);
    for (const loan of this.#loans) this.#checkLoan(loan);
    this.#checkPool();
    if (this.#loans.length === 0 && this.#opening.size === 0 && this.#pool.waitingCount === 0) this.close();
  }

  #checkResponse(client: BoundedClient): void {
    const { pendingSince, suspectedAt } = client;
    if (pendingSince === null || client.isPatient) return;
    const isLate = this.#msSince(pendingSince) >= this.limits.queryMs + (client.isBatch ? TIME_LIMITS.lockMs : 0);
    const isOut = suspectedAt !== null && this.#msSince(Math.max(suspectedAt, pendingSince)) >= this.limits.suspectMs;
    if (!isLate && !isOut) return;
    client.giveUp();
    this.#open.delete(client);
    for (const other of this.#open) {
      if (other.heardAt > pendingSince) continue;
      if (other.loan !== null) other.suspectedAt ??= this.clock;
      else if (other.pendingSince === null && other.isReusable) other.discard();
    }
  }

  #checkLoan(loan: Loan): void {
    const { client, since } = loan;
    if (client.pendingSince !== null) return;
    if (this.#msSince(Math.max(since, client.heardAt)) < this.limits.heldIdleMs) return;
    this.leaks += 1;
    this.#log.error('database connection leaked', { heldMs: Math.round(this.#msSince(since)) });
    client.loan = null;
    client.discard();
    loan.takeBack();
  }

  #checkPool(): void {
    if (!this.#isStuck) this.isStarved = false;
    else if (!this.isStarved && !this.#isProbing) void this.#probe();
  }

  get #isStuck(): boolean {
    const { idleCount, totalCount } = this.#pool;
    return (
      this.#unservedSince !== null &&
      this.#msSince(this.#unservedSince) >= this.limits.starvedMs &&
      idleCount === 0 &&
      totalCount >= this.limits.connections
    );
  }

  /** Whether the database would give a connection to somebody else. */
  async #probe(): Promise<void> {
    this.#isProbing = true;
    const client = new BoundedClient(this.#pool.options, this);
    client.isBackground = true;
    try {
      await client.connect();
      await client.query(PING);
      // One may have come back meanwhile.
      if (!this.#isStuck) return;
      this.isStarved = true;
      this.#log.error('database pool starved', { ...this.connections });
    } catch (error) {
      this.#log.warn('database unavailable', describeError(error));
    } finally {
      client.discard();
      this.#isProbing = false;
    }
  }
}

/** The pool has no code for this, only a message. */
const isLateForPlace = (error: Error | undefined): boolean =>
  error?.message === 'timeout exceeded when trying to connect';

/** Only the server's own code says more; sockets fail in more ways than can be listed. */
const coded = (error: Error | undefined): Error =>
  error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
