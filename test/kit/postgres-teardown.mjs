import { rm } from 'node:fs/promises';

/** Stops the Postgres of the run and removes its data. */
export default async function stopPostgres() {
  const { server, dataDir } = globalThis.strongroomTestPostgres;
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
