import { PostgresBackend } from '@agendajs/postgres-backend';
import pg from 'pg';
import type { SealedText } from '../crypto/sealed-text.js';
import type { ServiceAccess } from '../database/service-role.js';
import { BEGIN } from '../database/session.sql.js';
import { CHECK_TABLE, LOCK } from './wake-store.sql.js';
import type { OpenStore, WakeStore } from './waker.js';

const CONNECT_MS = 5_000;
const CONNECTIONS = 2;
/** Nodes that make Agenda's table at the same moment fail; with the lock of this number one does. */
const SCHEMA_LOCK = 7_205_759_403_792_794;

/**
 * The store for a URL.
 *
 * @param url of `JOBS_URL`; null: the database of the service, where a migration has made Agenda's table
 * @param access to that database
 */
export function wakeStore(url: SealedText | null, access: ServiceAccess): WakeStore {
  if (url === null) return { name: 'postgres', open: () => openPostgres(access, { isMigrated: true }) };
  const address = url.reveal();
  if (/^mongodb/.test(address)) return { name: 'mongodb', open: () => openMongo(address) };
  return { name: 'postgres', open: () => openPostgres({ url: address }, { isMigrated: false }) };
}

/** Loaded when it is wanted: the driver takes 18 MB and an eighth of a second. */
const openMongo = async (url: string): Promise<OpenStore> => (await import('./mongo-store.js')).openMongo(url);

async function openPostgres(
  { url, settings, Client }: ServiceAccess,
  { isMigrated }: { isMigrated: boolean },
): Promise<OpenStore> {
  const pool = new pg.Pool({
    connectionString: url,
    ...(settings === undefined ? {} : { options: settings }),
    ...(Client === undefined ? {} : { Client }),
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
    application_name: 'strongroom jobs',
  });
  // Connections that break while nobody uses them: the next query opens others.
  pool.on('error', () => undefined);
  // And those that break while somebody holds them: his query fails, but the event without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    if (!isMigrated) await makeTable(pool);
    await pool.query(CHECK_TABLE);
  } catch (error) {
    await pool.end();
    throw error;
  }
  // Without LISTEN, which a pooler between would not pass on: who waits looks every second.
  const backend = new PostgresBackend({ pool, ensureSchema: false, disableNotifications: true });
  return { backend, close: () => pool.end() };
}

async function makeTable(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(BEGIN);
    await client.query(LOCK, [SCHEMA_LOCK]);
    await new PostgresBackend({ pool, ensureSchema: true, disableNotifications: true }).connect();
  } finally {
    // With its connection the transaction ends, and the lock.
    client.release(true);
  }
}
