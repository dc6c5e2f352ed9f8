import type { Constructor } from '@mikro-orm/core';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import { defineConfig } from '@mikro-orm/postgresql';
import type { Pool, TypeOverrides } from 'pg';
import { SessionDriver } from './orm-driver.js';
import type { PoolGuard } from './pool-guard.js';
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
