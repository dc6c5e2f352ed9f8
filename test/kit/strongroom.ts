import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from './caller.ts';
import { migratedDatabase } from './databases.ts';
import { type Ended, runProgram } from './programs.ts';
import { askRun } from './run-desk.ts';
import { Service, type ServiceOptions } from './service.ts';
import { SharedStrongroom } from './shared-strongroom.ts';
import { IS_TABLE, withClient } from './tables.ts';
import { until } from './until.ts';
import { type Verdict, verifyAudit } from './verify-audit.ts';

export { Caller, type Reply } from './caller.ts';
export { freshDatabase } from './databases.ts';
export type { SharedStrongroom } from './shared-strongroom.ts';

/**
 * Times that the service compares with the present. Moving them back is the same as moving the database's clock ahead. Those of jobs come
 * last: a job that is due finds what it is about moved.
 */
const STORED_TIMES = `
  select table_name, string_agg(format('%I = %I - %L::interval', column_name, column_name, $1::text), ', ') as changes
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
   where ${IS_TABLE} and data_type = 'timestamp with time zone' and table_name !~ '^(schema_migration$|audit_)'
   group by table_name order by table_name ~ '^job', table_name`;

/** The same of the terms of roles, which are texts. */
const termsEarlierBy = (interval: string): string => `
  role_terms = (
    select jsonb_object_agg(slug, term || jsonb_build_object(
        'startsAt', to_jsonb((term ->> 'startsAt')::timestamptz - interval '${interval}'),
        'endsAt', to_jsonb((term ->> 'endsAt')::timestamptz - interval '${interval}')))
    from jsonb_each(role_terms) as each(slug, term))`;

/** A further node of the same installation. */
export interface SecondNode {
  readonly url: string;
  readonly service: Service;
  caller(token: string): Caller;
  stop(): Promise<number | null>;
}

/** A service for one suite alone, from outside, with what tests need to look behind it. */
export class Strongroom extends SharedStrongroom {
  private constructor(
    private readonly service: Service,
    private readonly settings: Record<string, string> & {
      readonly DATABASE_URL: string;
      readonly BOOTSTRAP_TOKEN: string;
      readonly ROOT_KEY: string;
    },
  ) {
    super(service.url, settings.BOOTSTRAP_TOKEN, settings.DATABASE_URL);
  }

  /** Starts a service on a database of its own in the test run's Postgres. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<Strongroom> {
    const settings = {
      DATABASE_URL: await migratedDatabase(),
      ROOT_KEY: randomBytes(32).toString('base64'),
      BOOTSTRAP_TOKEN: mintToken(),
      ...env,
    };
    return new Strongroom(await Service.start({ env: settings }), settings);
  }

  /** In base64. */
  get rootKey(): string {
    return this.settings.ROOT_KEY;
  }

  /** The token of its first admin. */
  get token(): string {
    return this.settings.BOOTSTRAP_TOKEN;
  }

  /** Everything that the service printed so far. */
  log(): string {
    return this.service.output;
  }

  /** The line of the log that holds this text. What a process prints arrives later than its answer does. */
  logLine(text: string): Promise<string> {
    return until(`${text} in the log`, 20_000, () =>
      this.log()
        .split('\n')
        .find((line) => line.includes(text)),
    );
  }

  /** The database's clock moves ahead by this much. */
  async advanceClock(seconds: number): Promise<void> {
    const interval = `${seconds} seconds`;
    const tables = await this.sql(STORED_TIMES, [interval]);
    tables.unshift({ table_name: 'project_membership', changes: termsEarlierBy(interval) });
    await withClient(this.databaseUrl, async (client) => {
      for (const { table_name, changes } of tables) {
        const table = pg.escapeIdentifier(table_name);
        // Whole tables, one after the other: row by row it would meet a job that locks the same rows in another order.
        await client.query(`begin; lock table ${table} in exclusive mode; update ${table} set ${changes}; commit`);
      }
    });
  }

  /** What `npm run verify-audit` says of its trail. */
  verifyAudit(...args: string[]): Promise<Verdict> {
    return verifyAudit(this.settings, ...args);
  }

  /** Runs a program of `src/bin` with its settings. @param env further ones */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return runProgram(program, { ...this.settings, ...env }, ...args);
  }

  /** Another node on the same database. Whoever starts it stops it. */
  async startSecondNode(options: ServiceOptions = {}): Promise<SecondNode> {
    const service = await Service.start({ ...options, env: { ...this.settings, ...options.env } });
    return { url: service.url, service, caller: (token) => new Caller(service.url, token), stop: () => service.stop() };
  }

  /** Stops the service with SIGTERM. @throws Error when it does not end with 0 */
  async stop(): Promise<void> {
    await this.release();
    const code = await this.service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}:\n${this.service.output}`);
  }
}

/** A service of its own for the tests of a file. Its properties are there once the tests run. */
export function useStrongroom(env: Readonly<Record<string, string>> = {}): Strongroom {
  return duringTests(
    () => Strongroom.start(env),
    (strongroom) => strongroom.stop(),
  );
}

/** The service that the files of one worker share, with the settings of `Service` and no others. */
export function useSharedStrongroom(): SharedStrongroom {
  return duringTests(
    async () => {
      const { url, token, databaseUrl } = await askRun('/service');
      return new SharedStrongroom(url, token, databaseUrl);
    },
    async (strongroom) => {
      await strongroom.release();
      // The file in which it died fails, and not only the next one.
      await askRun('/service');
    },
  );
}

function duringTests<T extends object>(start: () => Promise<T>, end: (running: T) => Promise<void>): T {
  let running: T | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(async () => {
    if (running !== undefined) await end(running);
  });
  return new Proxy({} as T, {
    get: (_, name) => {
      if (running === undefined) throw new Error('the service is not there before the tests run');
      const value: unknown = Reflect.get(running, name, running);
      return typeof value === 'function' ? value.bind(running) : value;
    },
  });
}
