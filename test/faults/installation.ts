import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/kernel/postgres/embedded-postgres.js';
import { Caller } from '../kit/caller.ts';
import { embeddedUrl } from '../kit/processes.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';

/** A data directory with an embedded database, and the service that runs on it. */
export class Installation {
  readonly dataDir: string;
  #service: Service | null = null;

  readonly #env: Readonly<Record<string, string>>;

  private constructor(dataDir: string, env: Readonly<Record<string, string>>) {
    this.dataDir = dataDir;
    this.#env = env;
  }

  static async make(env: Readonly<Record<string, string>>): Promise<Installation> {
    return new Installation(await mkdtemp(join(tmpdir(), 'strongroom-fault-')), env);
  }

  get service(): Service {
    if (this.#service === null) throw new Error('the service is not running');
    return this.#service;
  }

  /** Starts the service and answers how long it took, in milliseconds. */
  async start(): Promise<number> {
    const begun = performance.now();
    this.#service = await Service.start({ dataDir: this.dataDir, env: this.#env });
    return performance.now() - begun;
  }

  /** The first admin, at the running service. */
  async admin(): Promise<Caller> {
    return new Caller(this.service.url, await this.service.firstToken());
  }

  async seed(): Promise<Seed> {
    const url = await this.databaseUrl();
    return new Seed(await this.admin(), (text, params) =>
      withClient(url, async (client) => (await client.query(text, params)).rows),
    );
  }

  /** Where the database answers while the service runs. */
  databaseUrl(): Promise<string> {
    return embeddedUrl(this.dataDir);
  }

  /** A further database in the same server, empty. */
  async freshDatabase(name: string): Promise<string> {
    return createDatabase(await this.databaseUrl(), name);
  }

  /** Stops what runs, hard if need be, and removes the directory. */
  async dispose(): Promise<void> {
    await this.#service?.kill();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await withClient(serverUrl, (client) => client.query(`create database ${name}`));
  return serverUrl.replace(/\/[^/]*$/, `/${name}`);
}

/** Runs work on an embedded Postgres without a service; `freshDatabase` makes an empty database in it. */
export async function withPostgres<T>(
  work: (freshDatabase: (name: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-fault-'));
  try {
    const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    try {
      return await work((name) => createDatabase(server.url, name));
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Runs work on an installation of its own. @param env settings of its service */
export async function withInstallation<T>(
  work: (installation: Installation) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const installation = await Installation.make(env);
  try {
    await installation.start();
    return await work(installation);
  } finally {
    await installation.dispose();
  }
}
