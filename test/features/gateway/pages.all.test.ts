import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXAMPLE_OPERATIONS } from '../../../src/start/example-operations.js';
import type { Reply } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const HTML = 'text/html; charset=utf-8';
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const open = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
  strongroom.admin.anonymous.get(path, { ...BROWSER, ...headers });

describe.each(['/', '/graphql', '/docs', '/search'])('the page %s', (path) => {
  test('is sent to a browser without a token, under a policy of its own that lets no text become a script', async () => {
    const reply = await open(path);
    expect({ status: reply.status, type: reply.headers['content-type'] }).toEqual({ status: 200, type: HTML });
    const policy = reply.headers['content-security-policy'] as string;
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe|https?:|\*/);
    expect(reply.text).not.toMatch(
      /<script(?! src="\/assets\/| type="(module" src="\/assets\/|application\/json"))|\son\w+=/,
    );
    expect(reply.text).toContain('Strongroom');
  });

  test('answers HEAD, and 304 to whom it is known', async () => {
    const { headers } = await open(path);
    const head = await strongroom.admin.anonymous.request({ method: 'HEAD', path, headers: BROWSER });
    expect({ status: head.status, text: head.text, etag: head.headers.etag }).toEqual({
      status: 200,
      text: '',
      etag: headers.etag,
    });
    const again = await open(path, { 'if-none-match': headers.etag as string });
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
  });

  test('loads only what is served here', async () => {
    const { text } = await open(path);
    const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(files.length).toBeGreaterThan(2);
    for (const file of new Set(files))
      expect({ file, status: (await open(file)).status }).toEqual({ file, status: 200 });
  });

  test('shows nothing of the caller, whoever it is', async () => {
    const known = await open(path, { authorization: `Bearer ${strongroom.admin.token}` });
    expect(known.text).toBe((await open(path)).text);
    expect((await open(path, { authorization: 'Bearer nonsense' })).status).toBe(200);
  });
});

test('/ gives links to callers that ask for JSON, and each leads somewhere', async () => {
  const reply = await strongroom.admin.anonymous.get('/', { accept: 'application/json' });
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(reply.body).toMatchObject({ name: 'strongroom', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  const { rest, ...links } = reply.body.links as Record<string, string>;
  for (const link of Object.values(links))
    expect({ link, status: (await open(link)).status }).toEqual({ link, status: 200 });
  expect((await strongroom.admin.get(`${rest}/v1/projects`)).status).toBe(200);
});

test('/graphql is a page for a browser only as long as nothing is asked', async () => {
  const asked = await open('/graphql?query={__typename}');
  expect({ status: asked.status, body: asked.body }).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
  expect(await strongroom.admin.get('/graphql', { accept: 'application/json' })).toBeError(400, 'MALFORMED_REQUEST');
  expect(await strongroom.admin.get('/graphql')).toBeError(400, 'MALFORMED_REQUEST');
  expect(await strongroom.admin.post('/graphql', {}, { accept: 'text/html' })).toBeError(406, 'NOT_ACCEPTABLE');
});

test('every page varies by each header once', async () => {
  const varyOf = async (path: string) => (await open(path)).headers.vary;
  expect(await varyOf('/graphql')).toBe('Accept, Accept-Encoding');
  expect(await varyOf('/')).toBe('Accept, Accept-Encoding');
  expect(await varyOf('/docs')).toBe('Accept-Encoding');
});

test('/favicon.ico is the mark', async () => {
  const { status, headers, text } = await open('/favicon.ico');
  expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
  expect(text).toBe((await open('/assets/strongroom.svg')).text);
});

test('/openapi.json is the document of schema/, with a tag', async () => {
  const committed = await readFile(join(import.meta.dirname, '../../../schema/openapi.json'), 'utf8');
  const { text, headers } = await open('/openapi.json');
  expect(text === committed).toBe(true);
  expect((await open('/openapi.json', { 'if-none-match': headers.etag as string })).status).toBe(304);
});

test('/schema.graphql is the schema of schema/, with a tag', async () => {
  const committed = await readFile(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8');
  const { text, headers } = await open('/schema.graphql');
  expect(text === committed).toBe(true);
  expect((await open('/schema.graphql', { 'if-none-match': headers.etag as string })).status).toBe(304);
});

describe('an address that does not exist', () => {
  test('is a page for a browser, with status 404, without a script, and with links that lead somewhere', async () => {
    const { status, headers, text } = await open('/no/such/<page>?token=srt_secret');
    expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: HTML });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: expect.stringContaining('Accept') });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'/);
    expect(text).not.toMatch(/<script|such|srt_/);
    const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(files).toEqual(
      expect.arrayContaining(['/', '/graphql', '/docs', '/openapi.json', '/schema.graphql', '/api/status']),
    );
    for (const file of files) expect({ file, status: (await open(file)).status }).toEqual({ file, status: 200 });
  });

  test('is a coded error for everybody else', async () => {
    const { anonymous } = strongroom.admin;
    for (const accept of ['application/json', '*/*', 'text/html;q=0.5, application/json', 'text/*'])
      expect(await anonymous.get('/no/such/page', { accept })).toBeError(404, 'ROUTE_NOT_FOUND');
    expect(await anonymous.get('/no/such/page')).toBeError(404, 'ROUTE_NOT_FOUND');
    for (const path of ['/api/v1/nothing', '/pki/nothing', '/assets/nothing', '/graphql/nothing'])
      expect(await open(path)).toBeError(404, 'ROUTE_NOT_FOUND');
    expect(await anonymous.post('/no/such/page', {}, BROWSER)).toBeError(404, 'ROUTE_NOT_FOUND');
  });
});

describe('the files of the pages', () => {
  /** A reply as bytes. */
  const bytes = async (path: string, encoding: string): Promise<{ encoding: string | null; body: Buffer }> => {
    const reply = await fetch(strongroom.url + path, { headers: { 'accept-encoding': encoding } });
    return { encoding: reply.headers.get('content-encoding'), body: Buffer.from(await reply.arrayBuffer()) };
  };

  test('are the same compressed and not, under different tags', async () => {
    for (const path of ['/assets/graphiql.css', '/assets/strongroom.css', '/openapi.json']) {
      const plain = await open(path, { 'accept-encoding': 'identity, gzip;q=0' });
      const { encoding, body } = await bytes(path, 'gzip');
      expect(plain.headers).not.toHaveProperty('content-encoding');
      // `fetch` has decompressed it.
      expect({ encoding, same: body.equals(Buffer.from(plain.text)) }).toEqual({ encoding: 'gzip', same: true });
      const head = await strongroom.admin.anonymous.request({
        method: 'HEAD',
        path,
        headers: { 'accept-encoding': 'gzip' },
      });
      expect(Number(head.headers['content-length'])).toBeLessThan(Buffer.byteLength(plain.text));
      expect(head.headers.etag).not.toBe(plain.headers.etag);
      expect(head.headers.vary).toBe('Accept-Encoding');
    }
  });

  test('are kept by whoever wants, and asked for again', async () => {
    const { headers } = await open('/assets/scalar.js');
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, no-cache',
      'content-security-policy': expect.stringMatching(/^default-src 'none'/),
    });
    expect((await open('/assets/scalar.js', { 'if-none-match': `"other", ${headers.etag}` })).status).toBe(304);
  });

  test('are those of the list, and no path leads out of it', async () => {
    for (const path of ['/assets/', '/assets/nope.js', '/assets/..%2f..%2fpackage.json', '/assets/__proto__'])
      expect(await open(path)).toBeError(404, 'ROUTE_NOT_FOUND');
    expect(await strongroom.admin.post('/assets/scalar.js', {})).toBeError(405, 'METHOD_NOT_ALLOWED');
  });
});

test('every operation that the explorer opens with runs as it is, in an organization that is still empty', async () => {
  const { admin } = await strongroom.seed.organization();
  const first = EXAMPLE_OPERATIONS.filter(({ isFirst }) => isFirst);
  expect(first.length).toBeGreaterThan(3);
  for (const { query, variables } of first) {
    const reply = await admin.graphql(query, variables as Record<string, unknown> | undefined);
    expect({ query, status: reply.status, errors: reply.body.errors }).toEqual({
      query,
      status: 200,
      errors: undefined,
    });
  }
});
