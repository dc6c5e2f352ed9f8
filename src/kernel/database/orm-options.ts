import { Migrator } from '@mikro-orm/migrations';
import { defineConfig } from '@mikro-orm/postgresql';
import type { Client, Pool, TypeOverrides } from 'pg';
import { migrations } from '../../migrations/index.js';

export type EntityClass = new (...args: never[]) => object;

const TIMESTAMPTZ = 1184;

/** Server-side limits of every connection. Source: reliability P8. */
const SESSION = [
  'statement_timeout=5000',
  'lock_timeout=2000',
  'idle_in_transaction_session_timeout=10000',
  'synchronous_commit=on',
  'timezone=UTC',
  'application_name=strongroom',
];

/**
 * Set-up of MikroORM, shared by the service and by its command line.
 *
 * @param onConnect called with each new connection of the pool
 */
export function ormOptions(
  url: string,
  entities: readonly EntityClass[],
  onConnect: (client: Client) => void = () => undefined,
): ReturnType<typeof defineConfig> {
  return defineConfig({
    clientUrl: url,
    entities: [...entities] as never[],
    extensions: [Migrator],
    pool: { min: 0, max: 20, idleTimeoutMillis: 30_000 },
    driverOptions: {
      connectionString: url,
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      connectionTimeoutMillis: 5_000,
      onPoolCreated: (pool: Pool) => {
        // MikroORM asks for texts and makes dates itself; rows that go past it should have dates too. It accepts both.
        (pool.options.types as TypeOverrides).setTypeParser(TIMESTAMPTZ, (text: string) => new Date(text));
        pool.on('connect', onConnect);
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
