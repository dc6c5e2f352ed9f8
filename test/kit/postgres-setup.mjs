import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, statfs, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { databaseAt, migratedDatabase } from './databases.ts';
import { mongoJars } from './mongo/memory-server.ts';
import { openDesk } from './run-desk.ts';
import './sources.mjs';

const TEMPLATE = 'strongroom_template';
/** A file system in memory, where Linux has one, and the room that the log of changes must have there: several times what it takes. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 2 ** 31;

/**
 * One real Postgres for the whole run; every test file has a database of its own in it, and reaches it by `DATABASE_URL`. What
 * files share beyond that is made when one of them asks for it.
 */
export default async function startPostgres() {
  // These import sources of the service, which Node can find once `sources.mjs` has run.
  const { SharedServices } = await import('./shared-services.ts');
  const { startEmbeddedPostgres } = await import('../../src/kernel/postgres/embedded-postgres.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-test-postgres-'));
  const cluster = join(dataDir, 'postgres');
  const logDir = join(MEMORY, basename(dataDir));
  watch(cluster, dataDir, logDir);
  if (await hasRoom()) await keepLogIn(logDir, { dataDir, cluster });
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  process.env.TEST_POSTGRES_URL = server.url;
  const services = new SharedServices(migratedDatabase);
  let template;
  let jars;
  const desk = await openDesk({
    '/template': () => (template ??= makeTemplate(server.url)),
    '/mongo-jars': () => (jars ??= mongoJars().then((folder) => ({ jars: folder }))),
    '/service': (worker, group) => services.of(worker, group),
    '/release': (worker, group) => services.release(worker, group),
    '/other-node': (worker, group) => services.otherOf(worker, group),
    '/log': (worker, group) => services.logOf(worker, group),
  });
  globalThis.strongroomTestRun = { server, folders: [dataDir, logDir], desk, services };
}

/** Begins what ends the processes of this run if it is cut off. It has no mark of the run, or of one around it. */
function watch(cluster, ...folders) {
  const { TEST_RUN_ID: _, ...env } = process.env;
  process.env.TEST_RUN_ID = randomUUID();
  const args = [join(import.meta.dirname, 'run-watcher.mjs'), process.env.TEST_RUN_ID, cluster, ...folders];
  const watcher = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watcher.unref();
  watcher.stdin.unref();
}

const hasRoom = () =>
  statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize > ROOM_BYTES,
    () => false,
  );

/** Makes the cluster with its log of changes in another folder. In memory a commit does not wait for a disk, a fifth of the time it takes. */
async function keepLogIn(logDir, { dataDir, cluster }) {
  const { serverAccount } = await import('../../src/kernel/postgres/account.ts');
  const { findBinaries } = await import('../../src/kernel/postgres/binaries.ts');
  const { ensureCluster } = await import('../../src/kernel/postgres/cluster.ts');
  const { prepareDataDirectory } = await import('../../src/kernel/postgres/data-directory.ts');
  await prepareDataDirectory(dataDir);
  const account = await serverAccount(cluster);
  await ensureCluster({ dataDir, cluster, account, binaries: await findBinaries(account, () => undefined) });
  // With its owner, which is another account where the run is of root.
  execFileSync('mv', [join(cluster, 'pg_wal'), logDir]);
  await symlink(logDir, join(cluster, 'pg_wal'));
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
