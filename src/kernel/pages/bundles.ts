import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Asset } from './asset.js';
import type { GuidesMaking } from './guides.js';

/** What a thread makes: the files of GraphiQL, of Scalar's API reference, or the guides and the index to search them by. */
export type Making =
  | { readonly kind: 'explorer' }
  | { readonly kind: 'reference' }
  | ({ readonly kind: 'guides' } & GuidesMaking);

/** Files that few ask for, by their names. The first to ask for any of them waits a second, until all are read and compressed. */
export class Bundle {
  readonly #making: Making;
  #files: Promise<ReadonlyMap<string, Asset>> | undefined;

  constructor(making: Making) {
    this.#making = making;
  }

  /** A file of the bundle, if it has one of this name. */
  async find(name: string): Promise<Asset | undefined> {
    this.#files ??= this.#load();
    return (await this.#files).get(name);
  }

  async #load(): Promise<ReadonlyMap<string, Asset>> {
    const worker = new Worker(new URL('./bundle-worker.js', import.meta.url), { workerData: this.#making, env: {} });
    try {
      const [files] = (await once(worker, 'message')) as [Record<string, Asset>];
      // What crosses between threads is a plain array of bytes.
      return new Map(Object.entries(files).map(([name, file]) => [name, { ...file, gzip: Buffer.from(file.gzip) }]));
    } catch (error) {
      this.#files = undefined;
      throw error;
    } finally {
      await worker.terminate();
    }
  }
}
