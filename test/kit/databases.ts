import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { askRun } from './run-desk.ts';

/**
 * An empty database of its own in the Postgres of the test run, for tests of first starts and migrations; returns its URL.
 *
 * @param options of `create database`
 */
export function freshDatabase(options = ''): Promise<string> {
  return createDatabase(options);
}

/** A database of its own with the schema of the service, and nothing in it: a copy of the template of the test run. */
export async function migratedDatabase(): Promise<string> {
  const { template } = await askRun('/template');
  return createDatabase(`template ${pg.escapeIdentifier(template)}`);
}

async function createDatabase(options: string): Promise<string> {
  const server = process.env.TEST_POSTGRES_URL as string;
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${name} ${options}`);
  } finally {
    await client.end();
  }
  return databaseAt(server, name);
}

/** The URL of another database of the same server. */
export const databaseAt = (server: string, name: string): string => server.replace(/\/[^/]*$/, `/${name}`);
