import { MongoClient } from 'mongodb';
import { databaseAt } from '../kit/databases.ts';
import { mongoJars } from '../kit/mongo/memory-server.ts';
import { startMongo } from '../kit/mongo/mongo.ts';
import { withClient } from '../kit/tables.ts';
import { withPostgres } from './installation.ts';

/** What JOBS_URL may name. */
export const STORES = ['postgres', 'mongodb'] as const;
export type StoreKind = (typeof STORES)[number];

/** A store of jobs apart from the database of the service, which can be lost in several ways. */
export interface StoreApart {
  readonly kind: StoreKind;
  readonly url: string;
  /** Breaks its connections, and takes no new ones. A MongoDB that is away has lost everything. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Loses everything, and stays connected. */
  wipe(): Promise<void>;
  /** Answers nobody: another Postgres by a lock of Agenda's table, a MongoDB by standing still. @returns what ends that */
  hold(): Promise<() => unknown>;
  /** Its jobs, as JSON. */
  jobs(): Promise<readonly string[]>;
}

/** Runs work with a new store, which the nodes that it starts have as their JOBS_URL. */
export async function withStoreApart<T>(kind: StoreKind, work: (store: StoreApart) => Promise<T>): Promise<T> {
  const withStore = { postgres: withPostgresStore, mongodb: withMongoStore }[kind];
  return withStore(async (store) => {
    process.env.TEST_JOBS_URL = store.url;
    try {
      return await work(store);
    } finally {
      delete process.env.TEST_JOBS_URL;
    }
  }) as Promise<T>;
}

type WithStore = (work: (store: StoreApart) => Promise<unknown>) => Promise<unknown>;

const withPostgresStore: WithStore = (work) =>
  withPostgres(async (freshDatabase) => {
    const url = await freshDatabase('jobs');
    const server = databaseAt(url, 'postgres');
    const allow = (isAllowed: boolean) =>
      withClient(server, (client) => client.query(`alter database jobs with allow_connections ${isAllowed}`));
    return work({
      kind: 'postgres',
      url,
      goAway: async () => {
        await allow(false);
        await withClient(server, (client) =>
          client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'jobs'`),
        );
      },
      comeBack: async () => void (await allow(true)),
      wipe: async () => void (await withClient(url, (client) => client.query('delete from agenda_jobs'))),
      hold: async () => {
        const held = Promise.withResolvers<void>();
        const over = Promise.withResolvers<void>();
        const done = withClient(url, async (client) => {
          await client.query('begin; lock table agenda_jobs in access exclusive mode');
          held.resolve();
          await over.promise;
          await client.query('rollback');
        });
        await Promise.race([held.promise, done]);
        return () => {
          over.resolve();
          return done;
        };
      },
      jobs: () =>
        withClient(url, async (client) => {
          const { rows } = await client.query<{ job: string }>('select row_to_json(j)::text as job from agenda_jobs j');
          return rows.map(({ job }) => job);
        }),
    });
  });

const withMongoStore: WithStore = async (work) => {
  const mongo = await startMongo(mongoJars);
  const withJobs = async <T>(use: (client: MongoClient) => Promise<T>): Promise<T> => {
    const client = await MongoClient.connect(mongo.url);
    return use(client).finally(() => client.close());
  };
  try {
    return await work({
      kind: 'mongodb',
      url: mongo.url,
      goAway: () => mongo.goAway(),
      comeBack: () => mongo.comeBack(),
      wipe: () => withJobs(async (client) => void (await client.db().dropDatabase())),
      hold: async () => mongo.standStill(),
      jobs: () =>
        withJobs(async (client) => {
          const jobs = await client.db().collection('agendaJobs').find().toArray();
          return jobs.map((job) => JSON.stringify(job));
        }),
    });
  } finally {
    await mongo.stop();
  }
};
