import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
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
  watch(join(dataDir, 'postgres'));
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  process.env.TEST_POSTGRES_URL = server.url;
  const services = new SharedServices(migratedDatabase);
  let template;
  let jars;
  const desk = await openDesk({
    '/template': () => (template ??= makeTemplate(server.url)),
    '/mongo-jars': () => (jars ??= mavenJars(MONGO_POM).then((folder) => ({ jars: folder }))),
    '/service': (worker, group) => services.of(worker, group),
    '/release': (worker, group) => services.release(worker, group),
    '/other-node': (worker, group) => services.otherOf(worker, group),
    '/log': (worker, group) => services.logOf(worker, group),
  });
  globalThis.strongroomTestRun = { server, dataDir, desk, services };
}

/** Begins what ends the processes of this run if it is cut off. It has no mark of the run, or of one around it. */
function watch(cluster) {
  const { TEST_RUN_ID: _, ...env } = process.env;
  process.env.TEST_RUN_ID = randomUUID();
  const args = [join(import.meta.dirname, 'run-watcher.mjs'), process.env.TEST_RUN_ID, cluster];
  const watcher = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watcher.unref();
  watcher.stdin.unref();
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
