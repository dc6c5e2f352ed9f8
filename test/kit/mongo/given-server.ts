import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { Relay } from '../relay.ts';

/** A database of its own at a MongoDB that somebody runs: reached through a relay, so that it can go away for those who use it. */
export class GivenServer {
  readonly url: string;
  readonly #direct: string;
  readonly #port: number;
  #relay: Relay | undefined;

  /** @param serverUrl one with a single host */
  constructor(serverUrl: string, port: number) {
    const url = new URL(serverUrl);
    if (url.protocol !== 'mongodb:') throw new Error('MONGODB_URL begins with mongodb:// and names one server.');
    // Else the users of a database authenticate in the one that the tests have made.
    if (url.username !== '' && !url.searchParams.has('authSource'))
      url.searchParams.set('authSource', url.pathname.slice(1) || 'admin');
    url.pathname = `/t_${randomUUID().replaceAll('-', '')}`;
    // The driver would leave the relay for the addresses that a replica set announces.
    url.searchParams.set('directConnection', 'true');
    this.#direct = url.href;
    url.hostname = '127.0.0.1';
    url.port = String(port);
    this.url = url.href;
    this.#port = port;
  }

  async open(): Promise<void> {
    this.#relay = await Relay.start(this.#direct, this.#port);
  }

  suspend(): void {
    this.#relay?.pause();
  }

  resume(): void {
    this.#relay?.resume();
  }

  /** Drops the database. */
  async close(): Promise<void> {
    await this.#relay?.stop();
    this.#relay = undefined;
    const client = await MongoClient.connect(this.#direct);
    await client.db().dropDatabase();
    await client.close();
  }
}
