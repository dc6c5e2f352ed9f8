import { type Constructor, isRaw, JsonProperty, Utils } from '@mikro-orm/core';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import {
  type AbstractSqlPlatform,
  defineConfig,
  type NativeQueryBuilder,
  PostgreSqlConnection,
  PostgreSqlDriver,
  PostgreSqlPlatform,
  type RawQueryFragment,
} from '@mikro-orm/postgresql';
import type { Pool, TypeOverrides } from 'pg';
import type { PoolGuard } from './pool-guard.js';
import { type Executor, type PooledClient, Session } from './session.js';
import { POOL_LIMITS, TIME_LIMITS } from './time-limits.js';

export type EntityClass = new (...args: never[]) => object;

/** What the program keeps in the database. */
export interface Model {
  readonly entities: readonly EntityClass[];
  /** Oldest first. */
  readonly migrations: readonly { readonly name: string; readonly class: Constructor<Migration> }[];
}

const TIMESTAMPTZ = 1184;

/** Settings of every connection: limits of the server, and how it plans. */
export const SESSION = [
  `statement_timeout=${TIME_LIMITS.statementMs}`,
  `lock_timeout=${TIME_LIMITS.lockMs}`,
  `idle_in_transaction_session_timeout=${TIME_LIMITS.idleInTransactionMs}`,
  'synchronous_commit=on',
  // Every statement has an index. To read a whole table is right for as long as it is small, and plans are kept.
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  // To compile a plan takes longer than to run it.
  'jit=off',
  'timezone=UTC',
  'application_name=strongroom',
];

/**
 * Set-up of MikroORM, shared by the service and by its command line.
 *
 * @param guard watches over the connections; none for the command line
 */
export function ormOptions(
  url: string,
  { entities = [], migrations = [] }: Partial<Model>,
  guard?: PoolGuard,
): ReturnType<typeof defineConfig> {
  return defineConfig({
    ...(guard === undefined ? {} : { driver: SessionDriver }),
    clientUrl: url,
    entities: [...entities] as never[],
    extensions: [Migrator],
    pool: { min: 0, max: (guard?.limits ?? POOL_LIMITS).connections, idleTimeoutMillis: 30_000 },
    driverOptions: {
      connectionString: url,
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      connectionTimeoutMillis: TIME_LIMITS.connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: TIME_LIMITS.keepAliveMs,
      ...(guard === undefined ? {} : { Client: guard.Client }),
      onPoolCreated: (pool: Pool) => {
        // MikroORM asks for texts and makes dates itself; rows that go past it should have dates too. It accepts both.
        (pool.options.types as TypeOverrides).setTypeParser(TIMESTAMPTZ, (text: string) => new Date(text));
        guard?.adopt(pool);
      },
    },
    migrations: { migrationsList: [...migrations], tableName: 'schema_migration', snapshot: false, silent: true },
    discovery: { warnWhenNoEntities: false },
    allowGlobalContext: false,
    forceUtcTimezone: true,
    // Its messages carry SQL; what the service logs is its own.
    debug: false,
    logger: () => undefined,
  });
}

/** MikroORM's placeholders: a list behind `in`, an identifier, a value, and a question mark that is none. */
const PLACEHOLDER = /( not)? in \((\?(?:, \?)*)\)|\\\?|\?\??/g;

/** The driver of MikroORM, whose statements carry no value in their text, and go to the session of their entity manager. */
class SessionDriver extends PostgreSqlDriver {
  protected override readonly platform = new ArrayPlatform();
  protected override readonly connection = new SessionConnection(this.config);
}

class ArrayPlatform extends PostgreSqlPlatform {
  /** Quotes all texts: otherwise `null` would be none, and spaces and line breaks would be lost. */
  override marshallArray(values: readonly unknown[]): string {
    return `{${values.map((value) => (value === null ? 'null' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
  }
}

class SessionConnection extends PostgreSqlConnection {
  override async execute<T>(
    query: string | NativeQueryBuilder | RawQueryFragment,
    given: readonly unknown[] | object = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: unknown,
  ): Promise<T> {
    if (!Array.isArray(given)) throw new Error('parameters have no names');
    await this.ensureConnection();
    const { sql, params } = typeof query === 'string' ? { sql: query, params: given } : rawOf(query);
    const executor = (ctx ?? this.getClient()) as Executor;
    return this.transformRawResult(await executor.executeQuery(statementOf(this.platform, sql, params)), method);
  }

  override stream(): never {
    throw new Error('statements of the entity manager are not streamed');
  }

  /** A transaction within another one is part of it. */
  override async begin({ ctx }: { readonly ctx?: unknown } = {}): Promise<never> {
    if (ctx !== undefined) {
      const outer = ctx as Executor;
      return { executeQuery: (statement) => outer.executeQuery(statement) } satisfies Executor as never;
    }
    const session = new Session((await (await this.getNativeClient()).connect()) as unknown as PooledClient, null);
    session.begin();
    return session as never;
  }

  override async commit(ctx: unknown): Promise<void> {
    if (!(ctx instanceof Session)) return;
    await ctx.commit();
    ctx.end();
  }

  override async rollback(ctx: unknown): Promise<void> {
    if (!(ctx instanceof Session)) return;
    await ctx.rollback().finally(() => ctx.end());
  }
}

const rawOf = (query: NativeQueryBuilder | RawQueryFragment): RawQueryFragment =>
  isRaw(query) ? query : query.toRaw();

/**
 * A statement of MikroORM with `$1`, `$2` for its values, as far as these are no SQL of ours. A list behind `in` is one value: the text
 * does not depend on its length.
 */
function statementOf(platform: AbstractSqlPlatform, text: string, given: readonly unknown[]) {
  const parameters: unknown[] = [];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const place = (value: unknown): string => {
    if (isRaw(value)) return write(value.sql, value.params);
    if (isJson(value)) return add(JSON.stringify(value));
    if (value === undefined) throw new Error('a value of the statement is undefined');
    return Array.isArray(value) ? value.map(place).join(', ') : add(value);
  };
  const write = (sql: string, values: readonly unknown[]): string => {
    if (values.length === 0) return sql;
    let at = 0;
    return sql.replace(PLACEHOLDER, (found, not?: string, list?: string) => {
      if (found === '\\?') return '?';
      if (found === '??') return platform.quoteIdentifier(values[at++] as string);
      if (list === undefined) return place(values[at++]);
      const items = list.split(',').map(() => values[at++]);
      if (items.some((item) => isRaw(item) || isJson(item) || Array.isArray(item)))
        return `${not ?? ''} in (${items.map(place).join(', ')})`;
      return `${not === undefined ? ' = any' : ' <> all'}(${add(items)})`;
    });
  };
  return { sql: write(text, given), parameters };
}

const isJson = (value: unknown): boolean =>
  Utils.isPlainObject(value) || (value as { [JsonProperty]?: true } | null | undefined)?.[JsonProperty] === true;
