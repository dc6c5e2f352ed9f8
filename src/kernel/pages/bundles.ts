import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Asset } from './asset.js';

/** The program of a page, made by others: GraphiQL, and Scalar's API reference. */
export type BundleName = 'explorer' | 'reference';

/** The files of each bundle. */
export const BUNDLE_FILES: Readonly<Record<BundleName, readonly string[]>> = {
  explorer: ['graphiql.css', 'graphiql.js', 'editor-worker.js', 'graphql-worker.js', 'json-worker.js'],
  reference: ['scalar.js'],
};

const loading = new Map<BundleName, Promise<ReadonlyMap<string, Asset>>>();

/** A file of a bundle. The first to ask for any of them waits a second, until it is read and compressed. */
export async function bundleFile(bundle: BundleName, file: string): Promise<Asset> {
  const files = loading.get(bundle) ?? load(bundle);
  loading.set(bundle, files);
  const asset = (await files).get(file);
  if (asset === undefined) throw new Error(`the bundle has no file ${file}`);
  return asset;
}

async function load(bundle: BundleName): Promise<ReadonlyMap<string, Asset>> {
  const worker = new Worker(new URL('./bundle-worker.js', import.meta.url), { workerData: bundle, env: {} });
  try {
    const [files] = (await once(worker, 'message')) as [Record<string, Asset>];
    // What crosses between threads is a plain array of bytes.
    return new Map(Object.entries(files).map(([name, file]) => [name, { ...file, gzip: Buffer.from(file.gzip) }]));
  } catch (error) {
    loading.delete(bundle);
    throw error;
  } finally {
    await worker.terminate();
  }
}
