import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readAddress } from '../addresses.js';
import { addVary, chooseType } from '../http/content-negotiation.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import { type Asset, makeAsset, readAsset, sendAsset } from './asset.js';
import { BUNDLE_FILES, bundleFile } from './bundles.js';
import { type ExampleOperation, explorerPage, homePage, notFoundPage, referencePage } from './html.js';
import { MARK, STYLE } from './theme.js';

/** Answers a request with a page. */
type Page = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

interface Contents {
  readonly version: string;
  readonly introspection: boolean;
  /** Nothing else runs than registered documents. */
  readonly persistedOnly: boolean;
  readonly examples: readonly ExampleOperation[];
  /** Pages count as requests without a token. */
  readonly rateLimits: RateLimits;
}

const policy = (...directives: readonly string[]): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    ...directives,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
});

/** No script but our files, and none made of text. Both programs put style elements into the page. */
const PROGRAM = policy(
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
);
const PLAIN = policy("style-src 'self'", "img-src 'self'");

const LINKS = {
  graphql: '/graphql',
  explorer: '/graphql',
  rest: '/api',
  reference: '/docs',
  openapi: '/openapi.json',
  health: '/api/status',
};

/**
 * Mounts what people open in a browser: `/`, `/docs` and the files of all pages; and the schema files. They are public, hold
 * nothing secret, and load nothing from anywhere else.
 *
 * @returns the explorer, for `GET /graphql`
 */
export async function mountPages(app: FastifyInstance, contents: Contents): Promise<Page> {
  const count = (request: FastifyRequest, reply: FastifyReply): void =>
    contents.rateLimits.takePublic(reply, { address: readAddress(request.ip) });
  await app.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => count(request, reply));
    await mountFiles(pages);
    mountHome(pages, contents);
    const reference = makeAsset('html', referencePage());
    pages.get('/docs', (request, reply) => sendAsset(request, reply, reference, PROGRAM));
    // Files of `schema/`: to make them takes the event loop half a second and more.
    const openapi = await readAsset('json', new URL('./openapi.json.gz', import.meta.url));
    pages.get('/openapi.json', (request, reply) => sendAsset(request, reply, openapi));
    const schema = await readAsset('txt', new URL('./schema.graphql.gz', import.meta.url));
    if (contents.introspection) pages.get('/schema.graphql', (request, reply) => sendAsset(request, reply, schema));
  });
  const explorer = makeAsset('html', explorerPage(contents));
  return async (request, reply) => {
    count(request, reply);
    addVary(reply, 'Accept');
    return sendAsset(request, reply, explorer, PROGRAM);
  };
}

/** Paths of programs: an unknown one is a mistake of a program, which is to get its code. */
const OF_PROGRAMS = /^\/(?:api|pki|assets|graphql)(?:\/|$)/;

/**
 * What a browser gets at an address that does not exist.
 *
 * @param hasSchema the schema is public
 * @returns null for whoever did not ask for a page: the coded error is for them
 */
export function notFoundResponse(
  hasSchema: boolean,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null {
  const page = notFoundPage(hasSchema);
  return (request, reply) => {
    const path = request.url.replace(/[?#].*$/, '');
    if (!['GET', 'HEAD'].includes(request.method) || OF_PROGRAMS.test(path)) return null;
    addVary(reply, 'Accept');
    const chosen = chooseType(request.headers.accept, ['application/json', 'text/html']);
    if (chosen?.type !== 'text/html' || !chosen.isNamed) return null;
    return reply
      .code(404)
      .headers({ ...PLAIN, 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(page);
  };
}

function mountHome(app: FastifyInstance, { version, introspection }: Contents): void {
  const page = makeAsset('html', homePage(version, introspection));
  const found = introspection ? { ...LINKS, schema: '/schema.graphql' } : LINKS;
  const links = makeAsset('json', JSON.stringify({ name: 'strongroom', version, links: found }));
  app.get('/', (request, reply) => {
    const isJson = chooseType(request.headers.accept, ['text/html', 'application/json'])?.type === 'application/json';
    addVary(reply, 'Accept');
    return isJson ? sendAsset(request, reply, links) : sendAsset(request, reply, page, PLAIN);
  });
}

async function mountFiles(app: FastifyInstance): Promise<void> {
  const script = (name: string) => readFile(new URL(`./browser/${name}`, import.meta.url), 'utf8');
  const ours: Record<string, Asset> = {
    'strongroom.svg': makeAsset('svg', MARK),
    'strongroom.css': makeAsset('css', STYLE),
    'explorer.js': makeAsset('js', withoutMap(await script('explorer.js'))),
    'reference.js': makeAsset('js', withoutMap(await script('reference.js'))),
  };
  for (const [name, asset] of Object.entries(ours)) {
    app.get(`/assets/${name}`, (request, reply) => sendAsset(request, reply, asset));
  }
  // Browsers ask for it beside pages that name no mark: a document that is opened in a tab.
  const mark = ours['strongroom.svg'] as Asset;
  app.get('/favicon.ico', (request, reply) => sendAsset(request, reply, mark));
  for (const bundle of ['explorer', 'reference'] as const) {
    for (const name of BUNDLE_FILES[bundle]) {
      app.get(`/assets/${name}`, async (request, reply) => sendAsset(request, reply, await bundleFile(bundle, name)));
    }
  }
}

/** Browsers would ask for a map that is not served. */
const withoutMap = (script: string): string => script.replace(/^\/\/# sourceMappingURL=.*$/m, '');
