import type { PoolClient, QueryResult } from 'pg';
import type { BoundedClient } from './bounded-client.js';
import type { FailureMeaning, Scope } from './scope.js';
import { BEGIN } from './session.sql.js';

export type Row = Record<string, unknown>;

/** Runs one statement with `$1` parameters and answers its rows. */
export type Query = <R extends object = Row>(text: string, params?: readonly unknown[]) => Promise<R[]>;

/** As the pool hands it out. */
export type PooledClient = BoundedClient & Pick<PoolClient, 'release'>;

/** What the entity manager sends its statements to. Its names are those of Kysely, which MikroORM expects. */
export interface Executor {
  executeQuery(statement: {
    readonly sql: string;
    readonly parameters: readonly unknown[];
  }): Promise<{ readonly rows: Row[]; readonly numAffectedRows?: bigint }>;
}

/**
 * A connection that somebody holds, and its transaction. The context of entity managers in a transaction.
 */
export class Session implements Executor {
  #isInTransaction = false;
  #isEnded = false;

  /** @param scope whose rows its statements reach; null: they are not bounded */
  constructor(
    private readonly client: PooledClient,
    private readonly scope: Scope | null,
  ) {}

  /** One statement, in the transaction if there is one. */
  readonly query: Query = async <R extends object = Row>(text: string, params: readonly unknown[] = []) =>
    (await this.#run<R>(text, params)).rows ?? [];

  async executeQuery({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) {
    // Without any it may be several statements, as those of migrations are.
    if (parameters.length > 0) this.client.prepareGenerated(sql);
    const { rows = [], rowCount } = await this.#run<Row>(sql, parameters);
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  #run<R extends object>(text: string, params: readonly unknown[]): Promise<QueryResult<R>> {
    if (this.#isEnded) return Promise.reject(new Error('the transaction is over'));
    if (this.#isInTransaction) return this.client.query(text, [...params]);
    return new Promise((resolve, reject) => {
      this.client.queryIn(this.scope, text, [...params], (error, result) =>
        error ? reject(error) : resolve(result as QueryResult<R>),
      );
    });
  }

  /** As `queryWithNext` of the client. */
  queryWithNext(text: string, params: readonly unknown[], meaning: FailureMeaning): Promise<void> {
    return this.client.queryWithNext(text, params, meaning);
  }

  /** Begins a transaction, with its first statement. @param text how it begins */
  begin(text = BEGIN): void {
    this.client.begin(this.scope, text);
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    await this.client.commit();
    this.#isInTransaction = false;
  }

  /** Does nothing where there is no transaction. One on which it fails is closed. */
  async rollback(): Promise<void> {
    if (!this.#isInTransaction) return;
    this.#isInTransaction = false;
    await this.client.rollback();
  }

  /** Gives the connection back. @param isFailed it is closed */
  end(isFailed = false): void {
    this.#isEnded = true;
    this.client.release(isFailed);
  }
}
