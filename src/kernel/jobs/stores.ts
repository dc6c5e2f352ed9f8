import { PostgresBackend } from '@agendajs/postgres-backend';
import pg from 'pg';
import type { SealedText } from '../crypto/sealed-text.js';
import { BEGIN, LOCK } from '../database/session.sql.js';
import { FORGET_FAILED } from './job.sql.js';
import type { OpenStore, StoreAddress } from './job-store.js';

const CONNECT_MS = 5_000;
const CONNECTIONS = 4;
/** Nodes that make Agenda's table at the same moment fail; with the lock of this number one does. */
const SCHEMA_LOCK = 7_205_759_403_792_794;

/** The store that `JOBS_URL` names. */
export function storeAt(url: SealedText): StoreAddress {
  const address = url.reveal();
  return /^mongodb/.test(address)
    ? { name: 'mongodb', open: () => openMongo(address) }
    : { name: 'postgres', open: () => openPostgres(address) };
}

/** Loaded when it is wanted: the driver takes 18 MB and an eighth of a second. */
const openMongo = async (url: string): Promise<OpenStore> => (await import('./mongo-store.js')).openMongo(url);

async function openPostgres(url: string): Promise<OpenStore> {
  const pool = new pg.Pool({
    connectionString: url,
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
    await makeTable(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  // Without LISTEN, which a pooler between would not pass on.
  const backend = new PostgresBackend({ pool, ensureSchema: false, disableNotifications: true });
  return {
    backend,
    forgetFailed: async (days) => void (await pool.query(FORGET_FAILED, [days])),
    close: () => pool.end(),
  };
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
