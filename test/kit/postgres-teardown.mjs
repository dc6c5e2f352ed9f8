import { rm } from 'node:fs/promises';

/** Stops the services that suites shared, then the Postgres of the run, and removes its data. */
export default async function stopPostgres() {
  const { server, folders, desk, services } = globalThis.strongroomTestRun;
  desk.close();
  try {
    await services.stop();
  } finally {
    await server.stop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}
