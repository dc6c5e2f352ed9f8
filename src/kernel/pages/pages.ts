import { readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readAddress } from '../addresses.js';
import { AppError } from '../errors.js';
import { addVary, chooseType } from '../http/content-negotiation.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import { type Asset, makeAsset, readAsset, sendAsset } from './asset.js';
import { Bundle } from './bundles.js';
import {
  consolePage,
  type ExampleOperation,
  explorerPage,
  homePage,
  notFoundPage,
  referencePage,
  searchPage,
} from './html.js';
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
    // The search.
    "form-action 'self'",
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
/** Programs of ours: nothing of them is in the page itself. */
const CONSOLE = policy("script-src 'self'", "connect-src 'self'", "style-src 'self'", "img-src 'self'");
/** The search has a script and a stylesheet of ours. */
const SEARCH = policy("script-src 'self'", "connect-src 'self'", "style-src 'self'", "img-src 'self'");
const PLAIN = policy("style-src 'self'", "img-src 'self'");

const LINKS = {
  graphql: '/graphql',
  console: '/console',
  explorer: '/graphql',
  rest: '/api',
  reference: '/docs',
  guides: '/guides',
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
    mountGuides(pages, contents);
    await mountConsole(pages);
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
    'search.js': makeAsset('js', withoutMap(await script('search.js'))),
  };
  for (const [name, asset] of Object.entries(ours)) {
    app.get(`/assets/${name}`, (request, reply) => sendAsset(request, reply, asset));
  }
  // Browsers ask for it beside pages that name no mark: a document that is opened in a tab.
  const mark = ours['strongroom.svg'] as Asset;
  app.get('/favicon.ico', (request, reply) => sendAsset(request, reply, mark));
  const bundles = { explorer: new Bundle({ kind: 'explorer' }), reference: new Bundle({ kind: 'reference' }) };
  for (const [kind, names] of Object.entries(PROGRAM_FILES)) {
    const bundle = bundles[kind as keyof typeof bundles];
    for (const name of names) app.get(`/assets/${name}`, (request, reply) => sendFile(request, reply, bundle, name));
  }
}

/** The console: one page for each of its addresses, and the files of its program, as the build has made and compressed them. */
async function mountConsole(app: FastifyInstance): Promise<void> {
  const page = makeAsset('html', consolePage());
  for (const path of ['/console', '/console/*'])
    app.get(path, (request, reply) => sendAsset(request, reply, page, CONSOLE));
  const folder = new URL('./console/', import.meta.url);
  for (const packed of (await readdir(folder)).filter((name) => name.endsWith('.gz'))) {
    const name = packed.replace(/\.gz$/, '');
    const asset = await readAsset(
      name.endsWith('.css') ? 'css' : name.endsWith('.js') ? 'js' : 'json',
      new URL(packed, folder),
    );
    app.get(`/assets/console/${name}`, (request, reply) => sendAsset(request, reply, asset));
  }
}

/** Files of the programs that others make. */
const PROGRAM_FILES = {
  explorer: ['graphiql.css', 'graphiql.js', 'editor-worker.js', 'graphql-worker.js', 'json-worker.js'],
  reference: ['scalar.js'],
} as const;

/** The guides below `/guides/`, and the search over them and all operations. */
function mountGuides(app: FastifyInstance, { examples, introspection, persistedOnly }: Contents): void {
  const guides = new Bundle({ kind: 'guides', examples: persistedOnly ? [] : examples, introspection });
  const notFound = notFoundResponse(introspection);
  app.get('/guides', (request, reply) => sendFile(request, reply, guides, '', PLAIN));
  app.get<{ Params: { name: string } }>('/guides/:name', async (request, reply) => {
    const guide = await guides.find(request.params.name);
    if (guide !== undefined) return sendAsset(request, reply, guide, PLAIN);
    const page = notFound(request, reply);
    if (page === null) throw new AppError('ROUTE_NOT_FOUND');
    return page;
  });
  app.get('/assets/search.json', (request, reply) => sendFile(request, reply, guides, '/search.json'));
  const search = makeAsset('html', searchPage());
  app.get('/search', (request, reply) => sendAsset(request, reply, search, SEARCH));
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  bundle: Bundle,
  name: string,
  headers?: Readonly<Record<string, string>>,
): Promise<FastifyReply> {
  const file = await bundle.find(name);
  if (file === undefined) throw new Error(`the bundle has no file ${name}`);
  return sendAsset(request, reply, file, headers);
}

/** Browsers would ask for a map that is not served. */
const withoutMap = (script: string): string => script.replace(/^\/\/# sourceMappingURL=.*$/m, '');
