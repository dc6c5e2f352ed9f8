import { parentPort, workerData } from 'node:worker_threads';
import { type Asset, makeAsset } from './asset.js';
import type { Making } from './bundles.js';
import { makeGuides } from './guides.js';

/**
 * Reads and compresses a bundle in a thread of its own. The packages hold their files as strings, 4 and 9 MB in modules
 * that are never unloaded: when this thread ends, they are gone, and requests have not waited for it.
 */
async function make(making: Making): Promise<Record<string, Asset>> {
  if (making.kind === 'guides') return makeGuides(making);
  return making.kind === 'explorer' ? readExplorer() : readReference();
}

async function readExplorer(): Promise<Record<string, Asset>> {
  const files = await import('@graphql-yoga/render-graphiql/graphiql');
  return {
    'graphiql.css': makeAsset('css', files.css),
    'graphiql.js': makeAsset('js', withOperationsFirst(files.js)),
    'editor-worker.js': makeAsset('js', files.editorWorkerService),
    'graphql-worker.js': makeAsset('js', files.graphqlWorker),
    'json-worker.js': makeAsset('js', files.jsonWorker),
  };
}

/**
 * GraphiQL shows types before fields, a hundred of both. Whoever searches for `secret` wants operations: they come first, then types,
 * then other fields.
 */
const withOperationsFirst = (program: string): string =>
  program
    .replace(/(\.fields\.length>=)100(?=\)break)/, '$1400')
    .replace(
      /(\w+)\.types\.map\((\w+)\),\1\.fields\.map\((\w+)\)/,
      (_, found: string, ofType: string, ofField: string) => {
        const fields = (not: string) =>
          `${found}.fields.filter(({type})=>${not}/^(Query|Mutation|Subscription)$/.test(type.name)).map(${ofField})`;
        return `${fields('')},${found}.types.map(${ofType}),${fields('!')}`;
      },
    );

/** The plugin does not export its file: it is asked for it, once. */
async function readReference(): Promise<Record<string, Asset>> {
  const [{ default: fastify }, { default: plugin }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = fastify();
  await app.register(plugin, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { body } = await app.inject('/js/scalar.js');
  return { 'scalar.js': makeAsset('js', body) };
}

parentPort?.postMessage(await make(workerData as Making));
