import { rm } from 'node:fs/promises';

/** Stops the services that suites shared, then the Postgres of the run, and removes its data. */
export default async function stopPostgres() {
  const { server, dataDir, desk, services } = globalThis.strongroomTestRun;
  desk.close();
  try {
    await services.stop();
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
