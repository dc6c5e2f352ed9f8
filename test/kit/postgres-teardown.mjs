import { rm } from 'node:fs/promises';

/** Stops the services that suites shared, then the Postgres of the run, and removes its data. */
export default async function stopPostgres() {
  try {
    await stop(globalThis.strongroomTestRun);
  } catch (error) {
    // It would say that nothing but suites failed.
    if (process.env.FAILED_SUITES) await rm(process.env.FAILED_SUITES, { force: true });
    throw error;
  }
}

async function stop({ server, folders, desk, services }) {
  desk.close();
  try {
    await services.stop();
  } finally {
    await server.stop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}
