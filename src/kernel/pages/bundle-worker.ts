import { parentPort, workerData } from 'node:worker_threads';
import { type Asset, makeAsset } from './asset.js';
import type { BundleName } from './bundles.js';

/**
 * Reads and compresses a bundle in a thread of its own. The packages hold their files as strings, 4 and 9 MB in modules
 * that are never unloaded: when this thread ends, they are gone, and requests have not waited for it.
 */
const BUNDLES: Readonly<Record<BundleName, () => Promise<Record<string, Asset>>>> = {
  explorer: async () => {
    const files = await import('@graphql-yoga/render-graphiql/graphiql');
    return {
      'graphiql.css': makeAsset('css', files.css),
      'graphiql.js': makeAsset('js', files.js),
      'editor-worker.js': makeAsset('js', files.editorWorkerService),
      'graphql-worker.js': makeAsset('js', files.graphqlWorker),
      'json-worker.js': makeAsset('js', files.jsonWorker),
    };
  },
  // The plugin does not export its file: it is asked for it, once.
  reference: async () => {
    const [{ default: fastify }, { default: plugin }] = await Promise.all([
      import('fastify'),
      import('@scalar/fastify-api-reference'),
    ]);
    const app = fastify();
    await app.register(plugin, { routePrefix: '/', configuration: { url: '/openapi.json' } });
    const { body } = await app.inject('/js/scalar.js');
    return { 'scalar.js': makeAsset('js', body) };
  },
};

parentPort?.postMessage(await BUNDLES[workerData as BundleName]());
