import pg from 'pg';
import { Caller, closeIdleConnections } from './caller.ts';
import { Seed } from './seed.ts';

/**
 * A running service and its database, as far as suites may use them one after the other: nothing here shows or changes what others
 * left in it. Each test seeds an organization of its own.
 */
export class SharedStrongroom {
  readonly admin: Caller;
  readonly seed: Seed;
  readonly databaseUrl: string;
  readonly #database: pg.Pool;

  constructor(url: string, token: string, databaseUrl: string) {
    this.admin = new Caller(url, token);
    this.seed = new Seed(this.admin, (text, params) => this.sql(text, params));
    this.databaseUrl = databaseUrl;
    this.#database = new pg.Pool({ connectionString: databaseUrl, max: 3 });
    this.#database.on('error', () => undefined);
  }

  get url(): string {
    return this.admin.url;
  }

  /** One statement on the database, as its owner. */
  async sql<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, params: unknown[] = []): Promise<Row[]> {
    return (await this.#database.query<Row>(text, params)).rows;
  }

  /** Rows of the audit trail, oldest first. */
  auditRows(where = 'true', params: unknown[] = []): Promise<pg.QueryResultRow[]> {
    return this.sql(`select * from audit_record where ${where} order by sequence`, params);
  }

  /** How often transactions in its database waited for each other in a circle. Each session counts them within a second of work. */
  async deadlocks(): Promise<number> {
    const [row] = await this.sql('select deadlocks from pg_stat_database where datname = current_database()');
    return Number(row?.deadlocks);
  }

  /** SQL statements that the service sent while `work` ran, which knows nothing yet of what anybody may do. */
  async statements<T>(work: () => Promise<T>): Promise<{ result: T; count: number }> {
    await this.#forgetAccess();
    const before = await this.#statementsSent();
    const result = await work();
    return { result, count: (await this.#statementsSent()) - before };
  }

  /** Leaves it to others, with no connection of this file. */
  async release(): Promise<void> {
    closeIdleConnections();
    await this.#database.end();
  }

  /** A node drops what it knows when a request of a caller that it knows finds a change. */
  async #forgetAccess(): Promise<void> {
    await this.admin.get('/api/v1/projects?limit=1');
    await this.sql('insert into access_change default values');
    await this.admin.get('/api/v1/projects?limit=1');
  }

  async #statementsSent(): Promise<number> {
    const { text } = await this.admin.anonymous.get('/metrics');
    return Number(/^strongroom_sql_statements_total\{origin="request"\} (\d+)/m.exec(text)?.[1]);
  }
}
