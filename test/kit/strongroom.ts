import pg from 'pg';
import { Caller } from './caller.ts';
import { migratedDatabase } from './databases.ts';
import { askRun } from './run-desk.ts';
import { Service } from './service.ts';
import { newSettings, type Settings } from './shared-services.ts';
import { type OtherNode, SharedStrongroom } from './shared-strongroom.ts';
import { IS_TABLE, withClient } from './tables.ts';

export { Caller, type Reply } from './caller.ts';
export { freshDatabase } from './databases.ts';
export type { OtherNode, SecondNode, SharedStrongroom } from './shared-strongroom.ts';

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

type Env = Readonly<Record<string, string>>;

/** Moves the clock of a database ahead: all that it has becomes older by this much. */
async function advanceClock(strongroom: SharedStrongroom, seconds: number): Promise<void> {
  const interval = `${seconds} seconds`;
  const tables = await strongroom.sql(STORED_TIMES, [interval]);
  tables.unshift({ table_name: 'project_membership', changes: termsEarlierBy(interval) });
  await withClient(strongroom.databaseUrl, async (client) => {
    for (const { table_name, changes } of tables) {
      const table = pg.escapeIdentifier(table_name);
      // Whole tables, one after the other: row by row it would meet a job that locks the same rows in another order.
      await client.query(`begin; lock table ${table} in exclusive mode; update ${table} set ${changes}; commit`);
    }
  });
}

/** A service for one suite alone, from outside, with what tests need to look behind it. */
export class Strongroom extends SharedStrongroom {
  private constructor(
    private readonly service: Service,
    settings: Settings,
  ) {
    super(service.url, settings);
  }

  /** Starts a service on a database of its own in the test run's Postgres. */
  static async start(env: Env = {}): Promise<Strongroom> {
    const settings = newSettings(env.DATABASE_URL ?? (await migratedDatabase()), env);
    return new Strongroom(await Service.start({ env: settings }), settings);
  }

  /** Everything that the service printed so far. */
  async log(): Promise<string> {
    return this.service.output;
  }

  /** The database's clock moves ahead by this much. */
  advanceClock(seconds: number): Promise<void> {
    return advanceClock(this, seconds);
  }

  /** Stops the service with SIGTERM. @throws Error when it does not end with 0 */
  async stop(): Promise<void> {
    await this.release();
    const code = await this.service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}:\n${this.service.output}`);
  }
}

/** What a suite sees of the service that its worker keeps for a group of settings. */
class WorkersStrongroom extends SharedStrongroom {
  private constructor(
    url: string,
    settings: Settings,
    private readonly group: string,
    private readonly printedBefore: number,
  ) {
    super(url, settings);
  }

  static async find(group: string): Promise<WorkersStrongroom> {
    const { url, settings } = await askRun('/service', { group });
    const { text } = await askRun('/log', { group });
    return new WorkersStrongroom(url, settings, group, text.length);
  }

  async log(): Promise<string> {
    const { text } = await askRun('/log', { group: this.group });
    return text.slice(this.printedBefore);
  }

  async otherNode(): Promise<OtherNode> {
    const { url } = await askRun('/other-node', { group: this.group });
    return { url, caller: (token) => new Caller(url, token) };
  }

  advanceClock(seconds: number): Promise<void> {
    return advanceClock(this, seconds);
  }

  override async release(): Promise<void> {
    await super.release();
    // The file in which it died fails, and not only the next one.
    await askRun('/release', { group: this.group });
  }
}

/** A shared service whose node may have another one beside it. */
export type SharedNodes = SharedStrongroom & Pick<WorkersStrongroom, 'otherNode'>;
/** A shared service whose suites move the clock. */
export type MovedStrongroom = SharedNodes & Pick<WorkersStrongroom, 'advanceClock'>;

/** Settings for suites with external systems on this machine, and with documents that select whatever there is. */
export const LENIENT: Env = { ALLOW_PRIVATE_TARGETS: 'true', GRAPHQL_LIMITS: 'tokens=4000,cost=100000,objects=100000' };
/**
 * A service of its own for the tests of a file: only for what no other suite could stand, such as altered tables, forged rows, changes
 * of the first organization, and settings that no other suite has. Its properties are there once the tests run.
 */
export function useStrongroom(env: Env = {}): Strongroom {
  return duringTests(
    () => Strongroom.start(env),
    (strongroom) => strongroom.stop(),
  );
}

/** Suites that share a service of their own, and why. */
type Group =
  /** Their page of metrics has megabytes, which suites that count statements by it would read again and again. */
  | 'every operation'
  /** They count deadlocks, and provoke none: sessions tell theirs seconds later. */
  | 'no deadlocks'
  /** Whatever they left behind becomes older, too. */
  | 'moved clock'
  | 'others';

/** The service that the files of one worker share which ask for the same settings, beside those of `Service`. */
export const useSharedStrongroom = (env: Env = {}, group: Group = 'others'): SharedNodes => useGroup(env, group);

/** The same, for files that move its clock. */
export const useMovedStrongroom = (env: Env = {}): MovedStrongroom => useGroup(env, 'moved clock');

function useGroup(env: Env, name: Group): WorkersStrongroom {
  return duringTests(
    () => WorkersStrongroom.find(JSON.stringify({ env, name })),
    (strongroom) => strongroom.release(),
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
