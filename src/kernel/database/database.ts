import { AsyncResource } from 'node:async_hooks';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, QueryResult } from 'pg';
import { ConfigurationError } from '../configuration-error.js';
import { isTransaction, type Transaction } from '../context.js';
import { FairQueue } from '../load/fair-queue.js';
import type { RequestWork } from '../load/request-work.js';
import { createLog, type Log } from '../log.js';
import { inBackground } from './background.js';
import { type BoundedClient, MOST_AHEAD, NO_POOLER, type Pooler, type QueuedStatement } from './bounded-client.js';
import { connectionError, UNDECLARED_POOLER } from './connection-error.js';
import { type Model, ormOptions } from './orm-options.js';
import { type ConnectionFigures, PoolGuard } from './pool-guard.js';
import {
  type Callback,
  EVERY_ORGANIZATION,
  type FailureMeaning,
  type Scope,
  type ScopeContext,
  StatementNotRun,
  scopeOf,
  TooManyRows,
} from './scope.js';
import { type Executor, type PooledClient, type Query, type Row, Session } from './session.js';
import { FIND_LOCK_TIMEOUT, FIND_READ_ONLY, FIND_SESSION, TRY_DISK } from './session.sql.js';
import { POOL_LIMITS, type PoolLimits, TIME_LIMITS } from './time-limits.js';

/** Where a database is. */
export interface Address {
  readonly url: string;
  readonly pooler: Pooler;
}

export type { Query } from './session.js';

type Orm = ReturnType<typeof open>;

/** The pooler may lend the sessions of two connections to others meanwhile: one look at them could see nothing. */
const CHECK_ROUNDS = 3;
const SILENT = createLog('silent');
const TRANSACTIONS = { capacity: 12, spare: 0, maxWaiting: 500 };

/** The pool, and the ways to it: sessions, the entity managers that send their statements to them, and single statements. */
export class Database {
  /** At once, fewer than the pool has connections: transactions that wait for each other's locks leave some for reads. */
  readonly transactions = new FairQueue(TRANSACTIONS);

  /** Quick statements that were asked for in this turn. */
  readonly #gathered = new Map<Scope, QueuedStatement[]>();

  /** Rows are reached by scope: its connections have a role that policies bound. */
  isBounded = false;

  private constructor(
    private readonly orm: Orm,
    private readonly pool: Pool,
    private readonly guard: PoolGuard,
  ) {}

  /**
   * Opens the pool, and one connection to see that it can. Does not migrate.
   *
   * @param at where it is; a URL as `DATABASE_URL`, where no pooler shares sessions
   * @param model nothing for who only sends SQL
   * @throws ConfigurationError when there is no connection
   */
  static async connect(
    at: string | Address,
    model: Partial<Model>,
    log: Log = SILENT,
    limits: PoolLimits = POOL_LIMITS,
  ): Promise<Database> {
    const { url, pooler } = typeof at === 'string' ? { url: at, pooler: NO_POOLER } : at;
    const guard = new PoolGuard(log, limits, pooler);
    const orm = open(url, model, guard);
    try {
      await connect(orm, guard);
      const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };
      const database = new Database(orm, await connection.getNativeClient(), guard);
      if (!guard.isPooled && !(await hasSettings(database.query))) await guard.behind({ sharesSessions: true });
      if (guard.isPooled) {
        await database.checkPooler(pooler);
        if (guard.sharesSessions !== pooler.sharesSessions) await guard.behind(pooler);
        log.info('database behind a pooler', { mode: pooler.sharesSessions ? 'transaction' : 'session' });
      }
      return database;
    } catch (error) {
      await orm.close(true);
      guard.close();
      throw error instanceof ConfigurationError ? error : connectionError(error);
    }
  }

  /**
   * Two connections use the same prepared statement by turns, which fails behind a pooler that loses it.
   *
   * @throws ConfigurationError when they also use the same session, and nobody has said that they may
   */
  private async checkPooler({ sharesSessions, keepsStatements }: Pooler): Promise<void> {
    if (sharesSessions && !keepsStatements) return;
    this.prepare(FIND_SESSION);
    const clients = [await this.pool.connect(), await this.pool.connect()];
    try {
      const seen = clients.map(() => new Set<number>());
      for (let round = 0; round < CHECK_ROUNDS; round += 1)
        for (const [index, client] of clients.entries())
          seen[index]?.add((await client.query<{ session: number }>(FIND_SESSION, [])).rows[0]?.session ?? 0);
      const [one, other] = seen as [Set<number>, Set<number>];
      if (!sharesSessions && (one.size > 1 || [...one].some((session) => other.has(session))))
        throw new ConfigurationError([`DATABASE_URL ${UNDECLARED_POOLER}`]);
    } finally {
      for (const client of clients) client.release();
    }
  }

  /** SQL statements sent since start, transaction control included: for requests, and for background tasks. */
  get statements(): PoolGuard['statements'] {
    return this.guard.statements;
  }

  /** What becomes of the pool's connections. */
  get connections(): ConnectionFigures & { readonly longestHoldMs: number; readonly leaks: number } {
    const { connections, longestHoldMs, leaks } = this.guard;
    return { ...connections, longestHoldMs, leaks };
  }

  /** Nobody gets a connection, although the database has some to give: only a restart helps. */
  get isStarved(): boolean {
    return this.guard.isStarved;
  }

  /**
   * Whether the server takes changes: it is not read-only, and its disk is not full. For the disk one change is tried, once a statement
   * has failed for it.
   */
  async takesChanges(): Promise<boolean> {
    if (await isReadOnly(this.query)) return false;
    if (!this.guard.isDiskFull) return true;
    this.guard.isDiskFull = false;
    // It is noted again if it still is. Whatever else may be wrong with this statement is no matter of room.
    await this.query(TRY_DISK).catch(() => undefined);
    return !this.guard.isDiskFull;
  }

  /** Tells how long each statement and each transaction has waited for a connection, in milliseconds. */
  onWait(report: (milliseconds: number) => void): void {
    this.guard.onWait(report);
  }

  /**
   * One statement outside of any transaction, prepared once on each connection, which reaches no rows of projects: for tokens, keys and
   * records, which are read and written whoever asks.
   *
   * By callbacks: with promises, V8 keeps what a statement leaves until the next full collection, and a read takes a fifth longer.
   * Not `query` of the pool, which answers with the bare error of a socket, without what is known of its connection.
   */
  readonly query: Query = (text, params) => this.#prepared(null, text, params);

  /** The same for work that serves no request. */
  readonly inBackground: Query = (text, params) => inBackground(() => this.query(text, params));

  /** The same for rows of all organizations, of work that none of them asked for. Each use is listed in a test. */
  readonly everywhere: Query = (text, params) => this.#prepared(EVERY_ORGANIZATION, text, params);

  #prepared<R extends object>(scope: Scope | null, text: string, params?: readonly unknown[]): Promise<R[]> {
    this.prepare(text);
    return this.queryIn(scope, text, params);
  }

  /** One statement for the rows of a scope. @param maxRows null: any number @throws TooManyRows */
  queryIn<R extends object = Row>(
    scope: Scope | null,
    text: string,
    params: readonly unknown[] = [],
    maxRows: number | null = null,
  ): Promise<R[]> {
    return new Promise((resolve, reject) => {
      // The pool calls whoever has waited in the context of the one that gave the connection back, whose statement and whose span this
      // would be. Not `AsyncResource.bind`, of which each call leaves what only a full collection takes away.
      const context = new AsyncResource('STATEMENT');
      this.pool.connect((error, client, release) => {
        if (client === undefined) return reject(error);
        const answer = (failure: Error | null | undefined, result?: unknown): void => {
          if (failure) reject(failure);
          else resolve((result as QueryResult<R>).rows);
          release();
        };
        const bounded = client as unknown as BoundedClient;
        const bound = this.isBounded ? scope : null;
        context.runInAsyncScope(bounded.queryIn, bounded, bound, text, [...params], answer, maxRows);
      });
    });
  }

  /**
   * One statement for the rows of a scope that takes no time to speak of. Those that are asked for in the same turn of the event loop share
   * a round trip: one look serves many callers, who come here together behind it.
   */
  queryTogether<R extends object>(scope: Scope, text: string, params: readonly unknown[]): Promise<R[]> {
    return new Promise((resolve, reject) => {
      const callback: Callback = (error, result) => {
        if (error instanceof StatementNotRun) this.queryIn<R>(scope, text, params).then(resolve, reject);
        else if (error) reject(error);
        else resolve((result as QueryResult<R>).rows);
      };
      const gathered = this.#gathered.get(scope);
      const asked = { text, values: params, callback, context: new AsyncResource('STATEMENT') };
      if (gathered !== undefined) return void gathered.push(asked);
      this.#gathered.set(scope, [asked]);
      process.nextTick(() => this.#sendGathered(scope));
    });
  }

  #sendGathered(scope: Scope): void {
    const gathered = this.#gathered.get(scope) ?? [];
    this.#gathered.delete(scope);
    while (gathered.length > 0) {
      const asked = gathered.splice(0, MOST_AHEAD);
      this.pool.connect((error, client, release) => {
        if (client === undefined) for (const { callback } of asked) callback(error);
        else (client as unknown as BoundedClient).queryTogether(this.isBounded ? scope : null, asked, release);
      });
    }
  }

  /** Begins a transaction, READ COMMITTED, whose statements reach the rows of a scope. */
  async begin(scope: Scope): Promise<Session> {
    const session = new Session((await this.pool.connect()) as unknown as PooledClient, this.isBounded ? scope : null);
    session.begin();
    return session;
  }

  /** Marks a text to be parsed and planned once on each connection, however it is sent. For texts of which there are few. */
  prepare(text: string): void {
    this.guard.prepare(text);
  }

  /** The same for texts that are made from what is asked for: as long as there are few. */
  prepareGenerated(text: string): void {
    this.guard.prepareGenerated(text);
  }

  /**
   * Statements on rows of all organizations, on one connection of their own, outside of any request: for background tasks. Their session may
   * change from one transaction to the next: locks and settings are those of a transaction.
   * When `work` fails the connection is closed, and with it ends a transaction that it left open.
   *
   * @param patientUntil its statements may take as long as they need, until this signal closes the connection
   */
  async withConnection<T>(
    work: (query: Query, session: Session) => Promise<T>,
    patientUntil?: AbortSignal,
  ): Promise<T> {
    const client = (await this.pool.connect()) as unknown as PooledClient;
    client.isBackground = true;
    client.isPatient = patientUntil !== undefined;
    const discard = (): void => client.discard();
    patientUntil?.addEventListener('abort', discard);
    const session = new Session(client, this.isBounded ? EVERY_ORGANIZATION : null);
    try {
      const result = await work(session.query, session);
      session.end();
      return result;
    } catch (error) {
      session.end(true);
      throw error;
    } finally {
      patientUntil?.removeEventListener('abort', discard);
    }
  }

  /**
   * Opens all further connections with a role, and closes those that are open.
   *
   * @param change the URL of the one who logs in, or further settings of connections: `-c role=NAME`
   * @returns what undoes it
   */
  reconnect({
    url,
    settings,
  }: {
    readonly url: string | null;
    readonly settings: readonly string[];
  }): Promise<() => Promise<void>> {
    const options = [this.pool.options.options, ...settings].join(' ');
    return this.guard.reconnect({ ...(url === null ? {} : { connectionString: url }), options });
  }

  /** Has all statements planned anew. */
  renewPlans(): void {
    this.guard.renewPlans();
  }

  /** Work that may rightly take long, as migrations do: no deadline of ours holds meanwhile. */
  withoutLimits<T>(work: () => Promise<T>): Promise<T> {
    return this.guard.withoutLimits(work);
  }

  /** A fresh entity manager, for `inTransaction` and `emOf`. @param executor of its statements; absent: it begins transactions itself */
  fork(executor?: Executor): EntityManager {
    const em = this.orm.em.fork({ clear: true });
    em.setTransactionContext(executor as never);
    return em;
  }

  /** Names of the migrations that this program knows. */
  get migrations(): readonly string[] {
    return (this.orm.config.get('migrations').migrationsList ?? []).map((it) => ('name' in it ? it.name : ''));
  }

  get migrator(): Orm['migrator'] {
    return this.orm.migrator;
  }

  async close(): Promise<void> {
    await this.orm.close(true);
    this.guard.close();
  }
}

/** Whoever can reach the database, in a transaction or not. Statements of a Context are bounded to its organization. */
export interface Connected extends ScopeContext {
  readonly database: Database;
  /** Of a request. */
  readonly load?: { readonly work: RequestWork } | undefined;
}

/**
 * One statement, in the transaction of `ctx` where it has one. Parameters are `$1`, `$2`.
 *
 * @throws QUERY_TOO_COMPLEX when it has many times the rows that the response of a document may have
 */
export async function query<R extends object = Row>(
  ctx: Connected,
  text: string,
  params: readonly unknown[] = [],
): Promise<R[]> {
  ctx.database.prepare(text);
  return isTransaction(ctx) ? sessionOf(ctx).query<R>(text, params) : readFor<R>(ctx, text, params);
}

const sessionOf = ({ em }: Transaction): Session => em.getTransactionContext<Session>() as Session;

/**
 * Sends a statement of a transaction with the next one, or with its commit: for what nobody reads the rows of, and fails the
 * transaction.
 *
 * @param meaning of its failure, which the next one has then
 */
export const pipelined =
  (tx: Transaction, meaning: FailureMeaning = (error) => error): Query =>
  async (text, params = []) => {
    tx.database.prepare(text);
    await sessionOf(tx).queryWithNext(text, params, meaning);
    return [];
  };

/** What an entity manager can do without a transaction. */
type Reads = Pick<EntityManager, 'find' | 'findOne' | 'count' | 'countBy' | 'populate' | 'createQueryBuilder'>;
const READ_ONLY = /^(select|with)\b(?!.* for (update|no key update|share|key share)\b)/s;

/**
 * The entity manager for rows of the organization of `ctx`: that of its transaction, or a fresh one for reading.
 *
 * @throws as `query`
 */
export const emOf = (ctx: Connected): Reads =>
  isTransaction(ctx)
    ? ctx.em
    : ctx.database.fork({
        executeQuery: async ({ sql, parameters }) => {
          if (!READ_ONLY.test(sql)) throw new Error('changes and locks need a transaction');
          ctx.database.prepareGenerated(sql);
          return { rows: await readFor<Row>(ctx, sql, parameters) };
        },
      });

async function readFor<R extends object>(ctx: Connected, text: string, params: readonly unknown[]): Promise<R[]> {
  const { work } = ctx.load ?? {};
  try {
    return await ctx.database.queryIn<R>(scopeOf(ctx), text, params, work?.maxRows);
  } catch (error) {
    throw error instanceof TooManyRows ? (work?.refuseTooMany() ?? error) : error;
  }
}

/** The same as a function of its own, for kernel parts that know no Context. */
export const queryOf =
  (ctx: Connected): Query =>
  (text, params) =>
    query(ctx, text, params);

/** The same for a statement that takes no time to speak of, and has few rows: requests that ask for it together share a round trip. */
export const quickQuery =
  (ctx: Connected): Query =>
  (text, params = []) => {
    if (isTransaction(ctx)) return query(ctx, text, params);
    ctx.database.prepare(text);
    return ctx.database.queryTogether(scopeOf(ctx), text, params);
  };

/** Whether the server takes no changes: a standby, or one that was set to read-only. */
export async function isReadOnly(ask: Query): Promise<boolean> {
  const [server] = await ask<{ isReadOnly: boolean }>(FIND_READ_ONLY);
  return server?.isReadOnly !== false;
}

const open = (url: string, model: Partial<Model>, guard: PoolGuard) => new MikroORM(ormOptions(url, model, guard));

/** Opens the first connection. A pooler that takes no settings at its start is asked without them. */
async function connect(orm: Orm, guard: PoolGuard): Promise<void> {
  try {
    await orm.em.getConnection().connect();
  } catch (error) {
    if (!isRefusedByPooler(error)) throw error;
    guard.isPooled = true;
    guard.sharesSessions = true;
    await orm.em.getConnection().connect();
  }
}

/** Whether a connection was refused by a pooler that takes no settings at the start of one, such as PgBouncer. */
function isRefusedByPooler(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (/unsupported startup parameter/.test(at.message)) return true;
  return false;
}

/** Whether connections have the settings that they were started with. A pooler may drop them without a word. */
async function hasSettings(query: (text: string) => Promise<{ limit?: string }[]>): Promise<boolean> {
  const [row] = await query(FIND_LOCK_TIMEOUT);
  return Number(row?.limit) === TIME_LIMITS.lockMs;
}
