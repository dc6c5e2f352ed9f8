import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from './caller.ts';
import { Seed } from './seed.ts';
import { Service, type ServiceOptions } from './service.ts';
import { type Verdict, verifyAudit } from './verify-audit.ts';

export { Caller, type Reply } from './caller.ts';

/** Times that the service compares with the present. Moving them back is the same as moving the database's clock ahead. */
const STORED_TIMES = `
  select table_name, string_agg(format('%I = %I - $1::interval', column_name, column_name), ', ') as changes
    from information_schema.columns
   where table_schema = 'public' and data_type = 'timestamp with time zone' and table_name not in ('schema_migration', 'audit_record', 'audit_seal')
   group by table_name`;

/** A further node of the same installation. */
export interface SecondNode {
  readonly url: string;
  readonly service: Service;
  caller(token: string): Caller;
  stop(): Promise<number | null>;
}

/** The running service, from outside, with what tests need to look behind it. */
export class Strongroom {
  private constructor(
    private service: Service,
    private readonly settings: Record<string, string>,
    private readonly database: pg.Pool,
    readonly admin: Caller,
    readonly seed: Seed,
    readonly databaseUrl: string,
  ) {}

  /** Starts a service on a fresh database of the test run's Postgres. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<Strongroom> {
    const databaseUrl = await freshDatabase();
    const token = mintToken();
    const settings = {
      DATABASE_URL: databaseUrl,
      ROOT_KEY: randomBytes(32).toString('base64'),
      BOOTSTRAP_TOKEN: token,
      ...env,
    };
    const service = await Service.start({ env: settings });
    const database = new pg.Pool({ connectionString: databaseUrl, max: 3 });
    database.on('error', () => undefined);
    const admin = new Caller(service.url, token);
    return new Strongroom(service, settings, database, admin, new Seed(admin), databaseUrl);
  }

  get url(): string {
    return this.service.url;
  }

  /** Everything that the service printed so far. */
  log(): string {
    return this.service.output;
  }

  /** One statement on the database, as its owner. */
  async sql<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, params: unknown[] = []): Promise<Row[]> {
    return (await this.database.query<Row>(text, params)).rows;
  }

  /** SQL statements that the service sent while `work` ran. */
  async statements<T>(work: () => Promise<T>): Promise<{ result: T; count: number }> {
    const before = await this.#statementsSent();
    const result = await work();
    return { result, count: (await this.#statementsSent()) - before };
  }

  /** The database's clock moves ahead by this much. */
  async advanceClock(seconds: number): Promise<void> {
    for (const { table_name, changes } of await this.sql(STORED_TIMES)) {
      await this.sql(`update ${pg.escapeIdentifier(table_name)} set ${changes}`, [`${seconds} seconds`]);
    }
  }

  /** Rows of the audit trail, oldest first. */
  auditRows(where = 'true', params: unknown[] = []): Promise<pg.QueryResultRow[]> {
    return this.sql(`select * from audit_record where ${where} order by sequence`, params);
  }

  /** What `npm run verify-audit` says of its trail. */
  verifyAudit(...args: string[]): Promise<Verdict> {
    return verifyAudit(this.settings, ...args);
  }

  /** Another node on the same database. Whoever starts it stops it. */
  async startSecondNode(options: ServiceOptions = {}): Promise<SecondNode> {
    const service = await Service.start({ ...options, env: { ...this.settings, ...options.env } });
    return { url: service.url, service, caller: (token) => new Caller(service.url, token), stop: () => service.stop() };
  }

  /** Stops the service with SIGTERM. @throws Error when it does not end with 0 */
  async stop(): Promise<void> {
    await this.database.end();
    const code = await this.service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}:\n${this.service.output}`);
  }

  async #statementsSent(): Promise<number> {
    const { text } = await this.admin.anonymous.get('/metrics');
    return Number(/^strongroom_sql_statements_total\{origin="request"\} (\d+)/m.exec(text)?.[1]);
  }
}

/** A service for the tests of a file. Its properties are there once the tests run. */
export function useStrongroom(env: Readonly<Record<string, string>> = {}): Strongroom {
  let running: Strongroom | undefined;
  beforeAll(async () => {
    running = await Strongroom.start(env);
  });
  afterAll(() => running?.stop());
  return new Proxy({} as Strongroom, {
    get: (_, name) => {
      if (running === undefined) throw new Error('the service is not there before the tests run');
      const value: unknown = Reflect.get(running, name, running);
      return typeof value === 'function' ? value.bind(running) : value;
    },
  });
}

/** An empty database of its own in the Postgres of the test run; answers its URL. */
export async function freshDatabase(): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const server = process.env.TEST_POSTGRES_URL as string;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.replace(/\/[^/]*$/, `/${name}`);
}
