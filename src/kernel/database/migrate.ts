import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigurationError, TemporaryError } from '../configuration-error.js';
import { toAppError } from '../errors.js';
import { NO_ID } from '../ids.js';
import { type Database, isReadOnly, type Query, queryOf } from './database.js';
import { sqlState } from './in-transaction.js';
import {
  countRelations,
  DROP_MIGRATION_TABLE,
  findAnyMigration,
  findServerSettings,
  hasTables,
  listMigrations,
  nameFormerSteps,
} from './migration.sql.js';
import type { Session } from './session.js';
import { setLocalLimit, TRY_LOCK } from './session.sql.js';

/** Any constant will do, as long as no other program in the same database takes it. */
const MIGRATION_LOCK = '7266001';
const LOCK_PAUSE_MS = 100;

/** The steps that the first migration has in it, as databases name them, and the commit that knows each of them. */
const FORMER = { first: '0001-foundation', last: '0082-accounts-of-debts', commit: '131bf3a9' };

/**
 * Brings the database to this program's schema. Any number of nodes may start at once: one migrates, the others wait.
 *
 * @param before runs under the lock, before anything is written; it refuses a database that is not ours
 * @param after runs under the lock, on the migrated schema
 * @throws ConfigurationError when the schema is newer than the program or too old for it, or the server may lose acknowledged writes
 * @throws TemporaryError when the server takes no changes at present, or is lost on the way
 */
export async function migrate(
  database: Database,
  before: () => Promise<void>,
  after: () => Promise<void>,
): Promise<void> {
  try {
    await database.withConnection(async (query, session) => {
      await refuseReadOnlyServer(query);
      await lock(session);
      // A start that fails closes the connection, and the lock ends with its transaction.
      await database.withoutLimits(async () => {
        await refuseUnsafeServer(database);
        await refusingForeignTables(database, async () => {
          await namesIn(database);
          await before();
          await run(database);
          await after();
        });
      });
      await session.commit();
    });
  } catch (error) {
    if (error instanceof ConfigurationError || toAppError(error).code !== 'STORE_UNAVAILABLE') throw error;
    throw new TemporaryError([
      'the database became unreachable or read-only during the start; start the service again',
    ]);
  }
}

/**
 * Begins a transaction that has the lock. Ten nodes may wait here for the first one, for as long as its work takes. No single
 * statement does, so that a server that falls silent meanwhile is noticed, and no transaction, which would keep a session of a pooler.
 */
async function lock(session: Session): Promise<void> {
  for (;;) {
    session.begin();
    await session.query(setLocalLimit('idle_in_transaction_session_timeout', 0));
    const [answer] = await session.query<{ held: boolean }>(TRY_LOCK, [MIGRATION_LOCK]);
    if (answer?.held === true) return;
    await session.rollback();
    await delay(LOCK_PAUSE_MS);
  }
}

/** All that is missing, in one transaction; a step on a large table may take long. */
async function run(database: Database): Promise<void> {
  await makeList(database);
  await database.fork().transactional(async (em) => {
    await em.execute(setLocalLimit('statement_timeout', 0));
    const [name = ''] = database.migrations;
    const connected = { database, em, organizationId: NO_ID };
    await nameFormerSteps(queryOf(connected), { last: FORMER.last, name });
    const transaction = em.getTransactionContext();
    await database.migrator.up(transaction === undefined ? {} : { transaction });
  });
}

/** Makes the list of migrations where it is missing. Within the transaction, the migrator would do so on another connection. */
const makeList = (database: Database): Promise<unknown> => database.migrator.getExecuted();

/** Names that exist already, or tables without our columns. A missing right is no such case. */
const FOREIGN_SCHEMA = /^42(?!501)/;

/** A table of another program that has the name of one of ours. @throws ConfigurationError for it */
async function refusingForeignTables(database: Database, work: () => Promise<void>): Promise<void> {
  const wasMigrated = await hasMigrations(database);
  try {
    await work();
  } catch (error) {
    if (!FOREIGN_SCHEMA.test(sqlState(error) ?? '')) throw error;
    // Made before the first migration; without one it is all that is ours in there.
    if (!wasMigrated) await database.query(DROP_MIGRATION_TABLE);
    throw new ConfigurationError([
      'DATABASE_URL names a database with tables of another program, or with modified tables of this one; use an empty database',
    ]);
  }
}

async function refuseReadOnlyServer(query: Query): Promise<void> {
  if (await isReadOnly(query))
    throw new TemporaryError([
      'DATABASE_URL names a server that is read-only at the moment; start the service again later',
    ]);
}

async function refuseUnsafeServer(database: Database): Promise<void> {
  const [server] = await findServerSettings(database.query, {});
  const violations = [
    ...(Number(server?.version) < 150_000 ? ['DATABASE_URL names a server older than Postgres 15'] : []),
    ...(server?.fsync === 'off' ? ['DATABASE_URL names a server with fsync off, which can lose committed data'] : []),
    ...(server?.fullPageWrites === 'off'
      ? ['DATABASE_URL names a server with full_page_writes off, which can lose committed data']
      : []),
  ];
  if (violations.length > 0) throw new ConfigurationError(violations);
}

/** What a database or backup is to its owner, where it is of a newer version, and of one that is too old. */
const REFUSALS = {
  database: {
    newer: 'the database was migrated by a newer version of Strongroom; start that version',
    older: `the database is of a version of Strongroom that this one cannot upgrade; start commit ${FORMER.commit} on it until it is ready, then this version`,
  },
  backup: {
    newer: 'the backup is of a newer version of Strongroom; restore it with that version',
    older: `the backup is of a version of Strongroom that this one cannot upgrade; restore it with commit ${FORMER.commit}, start that until it is ready, then this version`,
  },
} as const;

/**
 * What of the migrations of this program has run, by the names that are stored.
 *
 * @throws ConfigurationError when it does not know one, or they end before its first one
 */
function knownNames(
  { migrations }: Pick<Database, 'migrations'>,
  stored: readonly string[],
  of: keyof typeof REFUSALS,
): readonly string[] {
  if (stored[0] === FORMER.first) {
    if (stored.at(-1) !== FORMER.last) throw new ConfigurationError([REFUSALS[of].older]);
    return migrations.slice(0, 1);
  }
  if (stored.some((name) => !migrations.includes(name))) throw new ConfigurationError([REFUSALS[of].newer]);
  return stored;
}

/** The same of a database. */
async function namesIn(database: Database): Promise<readonly string[]> {
  if (!(await hasMigrations(database))) return [];
  const stored = await listMigrations(database.query, {});
  return knownNames(
    database,
    stored.map(({ name }) => name),
    'database',
  );
}

/** What is to be stored in an empty database. */
interface Filling {
  /** Names of the migrations whose schema the rows have. */
  readonly migrations: readonly string[];
  /** Stores the rows. */
  readonly fill: (em: EntityManager) => Promise<void>;
  /** Runs when the other migrations of this program have run too. */
  readonly finish: (em: EntityManager) => Promise<void>;
}

/**
 * Fills an empty database in one transaction, so that one that is interrupted leaves it empty. Nodes that start meanwhile wait.
 *
 * @throws ConfigurationError when the database is not empty, or the rows are of a newer version or one that is too old
 */
export async function fillEmptyDatabase(database: Database, { migrations, fill, finish }: Filling): Promise<void> {
  await database.withConnection(async (query, session) => {
    await refuseReadOnlyServer(query);
    await lock(session);
    await database.withoutLimits(async () => {
      await refuseUnsafeServer(database);
      await dropEmptyMigrations(database);
      await refuseUsedDatabase(query);
      const names = knownNames(database, migrations, 'backup');
      await makeList(database);
      const filled = database.fork().transactional(async (em) => {
        await em.execute(setLocalLimit('statement_timeout', 0));
        await em.execute(setLocalLimit('idle_in_transaction_session_timeout', 0));
        const transaction = em.getTransactionContext();
        if (transaction === undefined) throw new Error('there is no transaction');
        await database.migrator.up({ migrations: [...names], transaction });
        await fill(em);
        await database.migrator.up({ transaction });
        await finish(em);
      });
      await filled.catch(async (error: unknown) => {
        await dropEmptyMigrations(database).catch(() => undefined);
        throw error;
      });
    });
    await session.commit();
  });
}

/** The list of migrations is made outside of the transaction of the first one. It is nothing while it has no row. */
async function dropEmptyMigrations(database: Database): Promise<void> {
  if (!(await hasMigrations(database))) return;
  const done = await findAnyMigration(database.query, {});
  if (done.length === 0) await database.query(DROP_MIGRATION_TABLE);
}

/** Tables, views and sequences of whatever program, but for those of extensions. @throws ConfigurationError when there are any */
async function refuseUsedDatabase(query: Query): Promise<void> {
  const [found] = await countRelations(query, {});
  if (found?.count !== 0)
    throw new ConfigurationError(['the database is not empty. Nothing was changed. Restore into an empty database']);
}

/** For programs beside the service, which do not migrate. @throws ConfigurationError for a database without our schema, or of another version */
export async function refuseOtherSchema(database: Database): Promise<void> {
  if (!(await hasMigrations(database)))
    throw new ConfigurationError(['the database is empty; start the service on it once']);
  if ((await namesIn(database)).length !== database.migrations.length)
    throw new ConfigurationError(['the database is of an older version of Strongroom; start this version on it once']);
}

async function hasMigrations(database: Database): Promise<boolean> {
  const [tables] = await hasTables(database.query, { names: ['schema_migration'] });
  return tables?.haveAll === true;
}
