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
  #statements = 0;
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
    const counter = { count: (): void => undefined };
    const orm = await open(url, entities, () => counter.count());
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
    counter.count = () => {
      database.#statements += 1;
    };
    return database;
  }

  /** SQL statements sent since start, transaction control included. */
  get statements(): number {
    return this.#statements;
  }

  /** Connections of the pool: open, idle, and callers waiting for one. */
  get connections(): { open: number; idle: number; waiting: number } {
    return { open: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.pool.waitingCount };
  }

  /** One statement outside of any transaction, prepared once on each connection. */
  readonly query: Query = async <R extends object = Row>(
    text: string,
    params: readonly unknown[] = [],
  ): Promise<R[]> => {
    const result: QueryResult<R> = await this.pool.query<R>({ name: this.#nameOf(text), text, values: [...params] });
    return result.rows;
  };

  /** Statements on one connection of their own: for locks that belong to a session. */
  async withConnection<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      return await work(async <R extends object = Row>(text: string, params: readonly unknown[] = []) => {
        const result: QueryResult<R> = await client.query<R>(text, [...params]);
        return result.rows;
      });
    } finally {
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

  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name;
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
  return (await transaction.executeQuery(CompiledQuery.raw(text, [...params]))).rows;
}

/** The same as a function of its own, for kernel parts that know no Context. */
export const queryOf =
  (ctx: Context): Query =>
  (text, params) =>
    query(ctx, text, params);

const open = (url: string, entities: readonly EntityClass[], count: () => void) =>
  MikroORM.init(ormOptions(url, entities, (client) => countStatements(client, count)));

function countStatements(client: Client, count: () => void): void {
  const send = client.query.bind(client) as (...args: unknown[]) => unknown;
  const counted = (...args: unknown[]): unknown => {
    count();
    return send(...args);
  };
  client.query = counted as typeof client.query;
}
