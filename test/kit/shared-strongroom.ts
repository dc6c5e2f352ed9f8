import pg from 'pg';
import { Caller, closeIdleConnections } from './caller.ts';
import { type Ended, runProgram } from './programs.ts';
import { Seed } from './seed.ts';
import { Service, type ServiceOptions } from './service.ts';
import type { Settings } from './shared-services.ts';
import { until } from './until.ts';
import { type Verdict, verifyAudit } from './verify-audit.ts';

/** A further node of the same installation. */
export interface OtherNode {
  readonly url: string;
  caller(token: string): Caller;
}

/** A further node that a suite has started, and stops. */
export interface SecondNode extends OtherNode {
  readonly service: Service;
  stop(): Promise<number | null>;
}

/**
 * A running service and its database, as far as suites may use them one after the other: nothing here shows or changes what others
 * left in it. Each test seeds an organization of its own.
 */
export abstract class SharedStrongroom {
  readonly url: string;
  readonly admin: Caller;
  readonly seed: Seed;
  readonly #database: pg.Pool;

  constructor(
    url: string,
    protected readonly settings: Settings,
  ) {
    this.url = url;
    this.admin = new Caller(url, settings.BOOTSTRAP_TOKEN);
    this.seed = new Seed(this.admin, (text, params) => this.sql(text, params));
    this.#database = new pg.Pool({ connectionString: settings.DATABASE_URL, max: 3 });
    this.#database.on('error', () => undefined);
  }

  get databaseUrl(): string {
    return this.settings.DATABASE_URL;
  }

  /** In base64. */
  get rootKey(): string {
    return this.settings.ROOT_KEY;
  }

  /** The token of its first admin. */
  get token(): string {
    return this.settings.BOOTSTRAP_TOKEN;
  }

  /** What the service printed, of a shared one since the suite began. */
  abstract log(): Promise<string>;

  /** The line of the log that holds this text. What a process prints arrives later than its answer does. */
  logLine(text: string): Promise<string> {
    return until(`${text} in the log`, 20_000, async () =>
      (await this.log()).split('\n').find((line) => line.includes(text)),
    );
  }

  /** One statement on the database, as its owner. */
  async sql<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, params: unknown[] = []): Promise<Row[]> {
    return (await this.#database.query<Row>(text, params)).rows;
  }

  /** Rows of the audit trail, oldest first. */
  auditRows(where = 'true', params: unknown[] = []): Promise<pg.QueryResultRow[]> {
    return this.sql(`select * from audit_record where ${where} order by sequence`, params);
  }

  /** What `npm run verify-audit` says of its trail. */
  verifyAudit(...args: string[]): Promise<Verdict> {
    return verifyAudit(this.settings, ...args);
  }

  /** Runs a program of `src/bin` with its settings. @param env further ones */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return runProgram(program, { ...this.settings, ...env }, ...args);
  }

  /** Another node on the same database, for tests that stop it or give it settings of its own. Whoever starts it stops it. */
  async startSecondNode(options: ServiceOptions = {}): Promise<SecondNode> {
    const service = await Service.start({ ...options, env: { ...this.settings, ...options.env } });
    return { url: service.url, service, caller: (token) => new Caller(service.url, token), stop: () => service.stop() };
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
