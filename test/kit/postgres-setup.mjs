import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { databaseAt, migratedDatabase } from './databases.ts';
import { mavenJars } from './maven-jars.ts';
import { openDesk } from './run-desk.ts';
import './sources.mjs';

const TEMPLATE = 'strongroom_template';
const MONGO_POM = join(import.meta.dirname, 'mongo/pom.xml');

/**
 * One real Postgres for the whole run; every test file has a database of its own in it, and reaches it by `DATABASE_URL`. What
 * files share beyond that is made when one of them asks for it.
 */
export default async function startPostgres() {
  // These import sources of the service, which Node can find once `sources.mjs` has run.
  const { SharedServices } = await import('./shared-services.ts');
  const { startEmbeddedPostgres } = await import('../../src/kernel/postgres/embedded-postgres.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-test-postgres-'));
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  process.env.TEST_POSTGRES_URL = server.url;
  process.env.TEST_POSTGRES_DATA = join(dataDir, 'postgres');
  const services = new SharedServices(migratedDatabase);
  let template;
  let jars;
  const desk = await openDesk({
    '/template': () => (template ??= makeTemplate(server.url)),
    '/mongo-jars': () => (jars ??= mavenJars(MONGO_POM).then((folder) => ({ jars: folder }))),
    '/service': (worker, group) => services.of(worker, group),
    '/other-node': (worker, group) => services.otherOf(worker, group),
    '/log': (worker, group) => services.logOf(worker, group),
  });
  globalThis.strongroomTestRun = { server, dataDir, desk, services };
}

/** A database that has the schema already: a copy of it takes a tenth of the time of the migrations. */
async function makeTemplate(serverUrl) {
  const { Database } = await import('../../src/kernel/database/database.ts');
  const { migrations } = await import('../../src/migrations/index.ts');
  const { migrate } = await import('../../src/kernel/database/migrate.ts');
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database ${TEMPLATE}`);
    const database = await Database.connect(databaseAt(serverUrl, TEMPLATE), { migrations });
    await migrate(
      database,
      async () => undefined,
      async () => undefined,
    );
    await database.close();
    // Postgres copies no database that somebody is connected to.
    await client.query(`alter database ${TEMPLATE} allow_connections false`);
  } finally {
    await client.end();
  }
  return { template: TEMPLATE };
}
