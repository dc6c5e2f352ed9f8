import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { sample } from '../../kit/scope.js';
import { type Caller, LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld, type World } from '../../kit/world.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');
/** Of an organization with projects enough for a large answer. */
let admin: Caller;
const UNPACK: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  /** Unpacked. */
  readonly text: string;
}

/** The bytes as they came: the usual client of the tests takes all for text. */
function fetchBytes(
  path: string,
  headers: Record<string, string>,
  { method = 'GET', body = '' } = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${admin.token}`;
    const all = { authorization, 'content-type': 'application/json', ...headers };
    const sent = request(new URL(path, strongroom.url), { method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const unpack = UNPACK[response.headers['content-encoding'] ?? ''];
        const text = (bytes.length === 0 || unpack === undefined ? bytes : unpack(bytes)).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers as never, bytes, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A value, a token or a file of values, where it is not withheld. */
const SECRET_FIELD = /"(secretValue|value|accessToken|clientSecret|content)":"(?!<hidden>)/;

/** What of an answer may be a secret: metadata of certificates has values too, which are none. */
const secretPartOf = (name: string, text: string): string =>
  name.includes('/cert-manager/certificates') ? text.replace(/"metadata":\[[^\]]*\]/g, '') : text;

const accepting = (encoding: string): Record<string, string> => ({ 'accept-encoding': encoding });
const LIST = '/api/v1/projects';

beforeAll(async () => {
  ({ admin } = await strongroom.seed.organization());
  for (let index = 0; index < 12; index += 1)
    await strongroom.seed.projectOf(admin, { projectDescription: 'A project like the others, '.repeat(5) });
});

describe('a large answer without secrets', () => {
  test.each([
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['GZIP', 'gzip'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['deflate', undefined],
    ['identity', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['gzip;q=0', undefined],
    ['*;q=0', undefined],
    ['gzip;q=7', undefined],
    ['gzip;level=9', undefined],
    ['', undefined],
    [',;q=1,;;', undefined],
  ])('goes to who accepts %j as %s', async (encoding, expected) => {
    const plain = await fetchBytes(LIST, accepting('identity'));
    const reply = await fetchBytes(LIST, accepting(encoding));

    expect(reply.headers['content-encoding']).toBe(expected);
    expect(reply.text).toBe(plain.text);
    expect(reply.headers.vary).toBe('Accept-Encoding');
    expect(Number(reply.headers['content-length'])).toBe(reply.bytes.length);
    if (expected !== undefined) expect(reply.bytes.length).toBeLessThan(plain.bytes.length / 3);
  });

  test('has a strong tag for each coding, and each of them is known again', async () => {
    const replies = [];
    for (const encoding of ['identity', 'br', 'gzip']) replies.push(await fetchBytes(LIST, accepting(encoding)));
    const tags = replies.map(({ headers }) => String(headers.etag));

    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) {
      expect(tag).toMatch(/^"[\w.-]+"$/);
      for (const entry of [tag, `W/${tag}`, `"other", ${tag}`]) {
        const again = await fetchBytes(LIST, { ...accepting('br'), 'if-none-match': entry });
        expect(again).toMatchObject({ status: 304, headers: { etag: tag, vary: 'Accept-Encoding' } });
        expect(again.headers['content-encoding']).toBeUndefined();
        expect(again.bytes).toHaveLength(0);
      }
    }
    const stale = await fetchBytes(LIST, { ...accepting('br'), 'if-none-match': '"other.br"' });
    expect(stale.status).toBe(200);
  });

  test('is told by HEAD as it goes out', async () => {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const get = await fetchBytes(LIST, accepting(encoding));
      const head = await fetchBytes(LIST, accepting(encoding), { method: 'HEAD' });
      for (const name of ['content-encoding', 'content-length', 'etag', 'vary'])
        expect(head.headers[name]).toBe(get.headers[name]);
      expect(head.bytes).toHaveLength(0);
    }
  });
});

describe('a small answer', () => {
  const small = async (encoding: string): Promise<Received> => {
    const { id } = await strongroom.seed.projectOf(admin);
    return fetchBytes(`/api/v1/projects/${id}/tags`, accepting(encoding));
  };

  test('is left as it is', async () => {
    expect((await small('br')).headers).toMatchObject({ vary: 'Accept-Encoding' });
    expect((await small('br')).headers['content-encoding']).toBeUndefined();
  });

  test.each(['gzip, identity;q=0', 'gzip, *;q=0'])('goes compressed to who takes no other, %s', async (encoding) => {
    expect((await small(encoding)).headers['content-encoding']).toBe('gzip');
  });
});

describe('an answer with secrets', () => {
  let read: { world: World; admin: Caller };
  beforeAll(async () => {
    read = await seedWorld(strongroom.seed);
  });

  /** Reads, and the changes that answer with a credential: the others are refused compression by their method alone. */
  const asked = restOperations().filter(({ name, changes }) => !changes || /token|secret|login/i.test(name));
  test.each(sample(asked, 5).map((operation) => [operation.name, operation] as const))(
    'of %s is never compressed, however much its caller asks',
    async (_, operation) => {
      const { world: own, admin: owner } = operation.changes
        ? await seedWorld(strongroom.seed, operation.things)
        : read;
      const plain = await operation.send(owner, own);
      const reply = await operation.send(owner, own, accepting('gzip, br, identity;q=0'));
      const isSecret =
        SECRET_FIELD.test(secretPartOf(operation.name, plain.text)) || plain.text.includes(own.heldToken);

      if (isSecret) expect(plain.headers['content-encoding']).toBeUndefined();
      if (isSecret || operation.changes) expect(reply.headers['content-encoding']).toBeUndefined();
      // Otherwise it would only be said of answers that nobody compresses.
      else expect(['br', undefined]).toContain(reply.headers['content-encoding']);
    },
  );
});

describe('a GraphQL answer', () => {
  const ask = (query: string, operationName?: string): Promise<Received> =>
    fetchBytes('/graphql', accepting('br, identity;q=0'), {
      method: 'POST',
      body: JSON.stringify({ query, operationName }),
    });

  test('that describes the schema is compressed', async () => {
    const reply = await ask(getIntrospectionQuery());
    expect(reply).toMatchObject({ status: 200, headers: { 'content-encoding': 'br', 'cache-control': 'no-store' } });
    expect(JSON.parse(reply.text).data.__schema.queryType.name).toBe('Query');
    expect(reply.bytes.length).toBeLessThan(reply.text.length / 4);
  });

  test.each([
    ['{ ... on Query { __type(name: "Project") { name } } }', undefined, 'br'],
    ['query A { ...F } fragment F on Query { __schema { queryType { name } } }', undefined, 'br'],
    ['query A { __schema { queryType { name } } }', 'A', 'br'],
    ['{ __schema { queryType { name } } projects { nodes { id } } }', undefined, undefined],
    ['{ __schema: projects { nodes { id } } }', undefined, undefined],
    [
      'query A { ...F ...G } fragment F on Query { __schema { queryType { name } } } fragment G on Query { projects { nodes { id } } }',
      undefined,
      undefined,
    ],
    ['{ ... { __typename ... { projects { nodes { id } } } } }', undefined, undefined],
    ['{ projects(slug: "__schema") { nodes { id } } }', undefined, undefined],
    ['{ __typename }', undefined, undefined],
  ])('to %s, operation %s, is sent as %s', async (query, operationName, expected) => {
    expect((await ask(query, operationName)).headers['content-encoding']).toBe(expected);
  });
});
