import { describeWith } from '../describe-with.ts';
import { freePort } from '../free-port.ts';
import { askRun } from '../run-desk.ts';
import { GivenServer } from './given-server.ts';
import { MemoryServer } from './memory-server.ts';

/** The first run on a machine fetches the server. */
export const START_WITHIN_MS = 300_000;

type MongoServer = MemoryServer | GivenServer;

/** A MongoDB, empty at first, or what speaks its protocol. */
export class Mongo {
  /** Of a database. It stays the same. */
  readonly url: string;
  readonly #server: MongoServer;

  /** @param server one that is open */
  constructor(server: MongoServer) {
    this.#server = server;
    this.url = server.url;
  }

  /** Its connections break, its port takes no new ones, and all that it kept is lost. */
  goAway(): Promise<void> {
    return this.#server.close();
  }

  /** Opens it where it was, and empty. */
  comeBack(): Promise<void> {
    return this.#server.open();
  }

  /** Answers nobody, and breaks no connection. @returns what ends that */
  standStill(): () => void {
    this.#server.suspend();
    return () => this.#server.resume();
  }

  /** Loses everything, and is back. */
  async restart(): Promise<void> {
    await this.goAway();
    await this.comeBack();
  }

  /** Leaves no process, port or database. */
  stop(): Promise<void> {
    return this.#server.close();
  }
}

const jarsOfRun = async (): Promise<string> => (await askRun('/mongo-jars')).jars;

/**
 * The server at MONGODB_URL, in a database of its own; without that setting a server in memory.
 *
 * @param findJars of the server in memory; absent: asks the test run for them
 */
export async function startMongo(findJars = jarsOfRun): Promise<Mongo> {
  const given = process.env.MONGODB_URL;
  const port = await freePort();
  const server = given ? new GivenServer(given, port) : new MemoryServer(await findJars(), port);
  try {
    await server.open();
  } catch (error) {
    await server.close();
    throw error;
  }
  return new Mongo(server);
}

/** `describe` with a MongoDB for its tests. It needs Java and Maven where MONGODB_URL names none. */
export function describeWithMongo(name: string, tests: (mongo: () => Mongo) => void): void {
  describeWith(process.env.MONGODB_URL ? [] : ['java', 'mvn'], name, () => {
    let mongo: Mongo;
    beforeAll(async () => {
      mongo = await startMongo();
    }, START_WITHIN_MS);
    afterAll(() => mongo?.stop());
    tests(() => mongo);
  });
}
