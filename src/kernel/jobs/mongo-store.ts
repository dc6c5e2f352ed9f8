import { MongoBackend } from '@agendajs/mongo-backend';
import { MongoClient } from 'mongodb';
import type { OpenStore } from './job-store.js';

const CONNECT_MS = 5_000;
const CONNECTIONS = 4;

/** Jobs in MongoDB. @throws when it cannot be reached now */
export async function openMongo(url: string): Promise<OpenStore> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: CONNECT_MS,
    connectTimeoutMS: CONNECT_MS,
    socketTimeoutMS: 2 * CONNECT_MS,
    maxPoolSize: CONNECTIONS,
    appName: 'strongroom jobs',
  });
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  const jobs = client.db().collection('agendaJobs');
  return {
    backend: new MongoBackend({ mongo: client.db() }),
    forgetFailed: async (days) => {
      const failedAt = { $lt: new Date(Date.now() - days * 86_400_000) };
      await jobs.deleteMany({ nextRunAt: null, failedAt });
    },
    close: () => client.close(),
  };
}
