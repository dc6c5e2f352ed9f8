import { rm } from 'node:fs/promises';

/** Stops the services that suites shared, then the Postgres of the run, and removes its data. */
export default async function stopPostgres() {
  const { server, folders, desk, services } = globalThis.strongroomTestRun;
  desk.close();
  try {
    await services.stop();
  } catch (error) {
    // It says that nothing but suites failed.
    if (process.env.FAILED_SUITES) await rm(process.env.FAILED_SUITES, { force: true });
    throw error;
  } finally {
    await server.stop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}
