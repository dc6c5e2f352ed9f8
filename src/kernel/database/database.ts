import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type { Client, Pool, QueryResult } from 'pg';
import { type Context, isTransaction } from '../context.js';
import { connectionFault } from './connection-fault.js';
import { type EntityClass, ormOptions } from './orm-options.js';

export type Row = Record<string, unknown>;
type Orm = Awaited<ReturnType<typeof open>>;

/** Runs one statement with `$1` parameters and answers its rows. */
export type Query = <R extends object = Row>(text: string, params?: readonly unknown[]) => Promise<R[]>;

/** The entity manager for writes, and a direct way past it for hot reads, over one pool. */
export class Database {
  readonly #statements = { request: 0, background: 0 };
  /** Connections that serve no request at the moment. */
  readonly #background = new WeakSet<object>();
  readonly #names = new Map<string, string>();

  private constructor(
    private readonly orm: Orm,
    private readonly pool: Pool,
  ) {}

  /**
   * Opens the pool, and one connection to see that it can. Does not migrate.
   *
   * @param url as `DATABASE_URL`, or that of the embedded server
   * @throws ConfigurationFault when there is no connection
   */
  static async connect(url: string, entities: readonly EntityClass[]): Promise<Database> {
    const watch: Watch = { count: () => undefined, nameOf: () => undefined };
    const orm = await open(url, entities, watch);
    try {
      await orm.em.getConnection().connect();
    } catch (error) {
      await orm.close(true);
      throw connectionFault(error);
    }
    const pool = (await (
      orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
    ).getNativeClient()) as Pool;
    const database = new Database(orm, pool);
    watch.count = (client) => {
      database.#statements[database.#background.has(client) ? 'background' : 'request'] += 1;
    };
    watch.nameOf = (text) => database.#names.get(text);
    return database;
  }

  /** SQL statements sent since start, transaction control included: for requests, and by the service's own upkeep. */
  get statements(): { readonly request: number; readonly background: number } {
    return this.#statements;
  }

  /** Connections of the pool: open, idle, and callers waiting for one. */
  get connections(): { open: number; idle: number; waiting: number } {
    return { open: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.pool.waitingCount };
  }

  /** Tells how long each statement and each transaction has waited for a connection, in milliseconds. */
  onWait(tell: (milliseconds: number) => void): void {
    const connect = this.pool.connect.bind(this.pool) as (...args: unknown[]) => unknown;
    const watched = (callback?: (...args: unknown[]) => unknown): unknown => {
      const since = performance.now();
      const told = <T>(result: T): T => {
        tell(performance.now() - since);
        return result;
      };
      // The pool itself asks by callback, for single statements; the ORM by promise.
      if (callback !== undefined) return connect((...args: unknown[]) => callback(...told(args)));
      return (connect() as Promise<unknown>).then(told);
    };
    this.pool.connect = watched as typeof this.pool.connect;
  }

  /** One statement outside of any transaction, prepared once on each connection. */
  readonly query: Query = async <R extends object = Row>(
    text: string,
    params: readonly unknown[] = [],
  ): Promise<R[]> => {
    this.prepare(text);
    const result: QueryResult<R> = await this.pool.query<R>(text, [...params]);
    return result.rows;
  };

  /** Marks a text to be parsed and planned once on each connection, however it is sent. For texts of which there are few. */
  prepare(text: string): void {
    if (!this.#names.has(text)) this.#names.set(text, `s${this.#names.size}`);
  }

  /** Statements on one connection of their own, on no request's behalf: for upkeep, and for locks that belong to a session. */
  async withConnection<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    this.#background.add(client);
    try {
      return await work(async <R extends object = Row>(text: string, params: readonly unknown[] = []) => {
        const result: QueryResult<R> = await client.query<R>(text, [...params]);
        return result.rows;
      });
    } finally {
      this.#background.delete(client);
      client.release();
    }
  }

  /** A fresh unit of work. `inTransaction` is the way to get one. */
  fork(): EntityManager {
    return this.orm.em.fork({ clear: true });
  }

  get migrator(): Orm['migrator'] {
    return this.orm.migrator;
  }

  async close(): Promise<void> {
    await this.orm.close(true);
  }
}

/** One statement, in the transaction of `ctx` where it has one. Parameters are `$1`, `$2`. */
export async function query<R extends object = Row>(
  ctx: Context,
  text: string,
  params: readonly unknown[] = [],
): Promise<R[]> {
  if (!isTransaction(ctx)) return ctx.database.query<R>(text, params);
  const transaction = ctx.em.getTransactionContext<{ executeQuery(q: CompiledQuery): Promise<{ rows: R[] }> }>();
  if (transaction === undefined) throw new Error('the transaction is over');
  ctx.database.prepare(text);
  return (await transaction.executeQuery(CompiledQuery.raw(text, [...params]))).rows;
}

/** The same as a function of its own, for kernel parts that know no Context. */
export const queryOf =
  (ctx: Context): Query =>
  (text, params) =>
    query(ctx, text, params);

/** What becomes of each statement. */
interface Watch {
  count(client: object): void;
  /** Name under which a text is prepared; undefined when it is sent as it is. */
  nameOf(text: string): string | undefined;
}

const open = (url: string, entities: readonly EntityClass[], watch: Watch) =>
  MikroORM.init(ormOptions(url, entities, (client) => watchStatements(client, watch)));

/** Here and not where statements are made, because those of a transaction reach the driver through the ORM. */
function watchStatements(client: Client, watch: Watch): void {
  const send = client.query.bind(client) as (...args: unknown[]) => unknown;
  const watched = (...args: unknown[]): unknown => {
    watch.count(client);
    const [text, values, ...rest] = args;
    const name = typeof text === 'string' && Array.isArray(values) ? watch.nameOf(text) : undefined;
    return name === undefined ? send(...args) : send({ name, text, values }, ...rest);
  };
  client.query = watched as typeof client.query;
}
