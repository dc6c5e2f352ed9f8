import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../.build/src/kernel/database/embedded/embedded-postgres.js';

/** One real Postgres for the whole run; every test file has a database of its own in it, and reaches it by `DATABASE_URL`. */
export default async function startPostgres() {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-test-postgres-'));
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  globalThis.strongroomTestPostgres = { server, dataDir };
  process.env.TEST_POSTGRES_URL = server.url;
  process.env.TEST_POSTGRES_DATA = join(dataDir, 'postgres');
}
