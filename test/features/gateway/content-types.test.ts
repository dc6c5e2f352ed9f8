import { gzipSync } from 'node:zlib';
import { chunked, exchange, firstReply, rawRequest } from '../../kit/raw.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const MIB = 1024 * 1024;
const CANARY = 'cAnArY';

/** A project whose description is no text: whoever makes it has not looked at the body. */
const wrong = (size = 0): Buffer => body({ projectDescription: [CANARY] }, size);
const right = (size = 0): Buffer => body({}, size);

let projects = 0;
function body(more: object, size: number): Buffer {
  projects += 1;
  const text = JSON.stringify({ projectName: 'Shop', slug: `type-${projects}`, ...more });
  return Buffer.from(text.padEnd(size));
}

const post = async (headers: readonly string[], bytes: Buffer, isChunked: boolean) => {
  const framing = isChunked
    ? [headers.some((line) => /^transfer-encoding/i.test(line)) ? [] : ['Transfer-Encoding: chunked']].flat()
    : [`Content-Length: ${bytes.length}`];
  const head = [
    'POST /api/v2/workspace HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${strongroom.admin.token}`,
    ...framing,
    ...headers,
  ];
  return firstReply(await exchange(strongroom.url, rawRequest(head, isChunked ? chunked(bytes) : bytes)));
};

const JSON_TYPE = 'Content-Type: application/json';
const type = (value: string): string[] => [`Content-Type: ${value}`];

/** Read as JSON in UTF-8, and so by the rules of the route. */
const READ: readonly [string, string[], size?: number][] = [
  ['of exactly 1 MiB', [JSON_TYPE], MIB],
  ['that is encoded as identity', [JSON_TYPE, 'Content-Encoding: identity']],
  ['of a type in capitals', type('APPLICATION/JSON')],
  ['of a type with a bare semicolon', type('application/json;')],
  ['of a type with a blank before it', type('  application/json')],
  ['of a type with a tab after it', type('application/json\t')],
  ['of a type with a tab before its semicolon', type('application/json\t;charset=utf-8')],
  ['of a charset of UTF-8', type('application/json; charset=UTF-8')],
  ['of a quoted charset', type('application/json;charset="utf-8"')],
  ['of a type with a parameter that says nothing', type('application/json; profile="a;b, \\"c"')],
];

const REFUSED: readonly [string, string[], number, string, size?: number][] = [
  ['of 1 MiB and a byte', [JSON_TYPE], 413, 'BODY_TOO_LARGE', MIB + 1],
  ['of 3 MiB', [JSON_TYPE], 413, 'BODY_TOO_LARGE', 3 * MIB],
  ['encoded as gzip', [JSON_TYPE, 'Content-Encoding: gzip'], 400, 'UNSUPPORTED_ENCODING'],
  ['encoded as GZIP', [JSON_TYPE, 'Content-Encoding: GZIP'], 400, 'UNSUPPORTED_ENCODING'],
  ['encoded as br', [JSON_TYPE, 'Content-Encoding: br'], 400, 'UNSUPPORTED_ENCODING'],
  ['encoded as deflate', [JSON_TYPE, 'Content-Encoding: deflate'], 400, 'UNSUPPORTED_ENCODING'],
  ['encoded as zstd', [JSON_TYPE, 'Content-Encoding: zstd'], 400, 'UNSUPPORTED_ENCODING'],
  ['encoded twice', [JSON_TYPE, 'Content-Encoding: identity, gzip'], 400, 'UNSUPPORTED_ENCODING'],
  ['of a type that begins like JSON', type('application/jsonx'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of a type with something after a tab', type('application/json\ta'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of a type with something after a blank', type('application/json a'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of a type with a blank in it', type('application/ json'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of a type said twice', type('application/json, application/json'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of two types', type('application/json, text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of UTF-16', type('application/json; charset=utf-16'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of two charsets', type('application/json; charset=utf-8; charset=utf-16'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of half a parameter', type('application/json; charset'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of plain text', type('text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of a form', type('application/x-www-form-urlencoded'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of parts', type('multipart/form-data; boundary=x'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of an empty type', type(''), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of no type', [], 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['of a type in two header fields', [JSON_TYPE, JSON_TYPE], 400, 'MALFORMED_REQUEST'],
];

// Rows without a size: a function that names it would be given the callback of the test there.
describe.each([
  ['with its length', false],
  ['in chunks', true],
])('a body %s', (_, isChunked) => {
  test.each(READ)('%s is read, and checked', async (...[, headers, size]) => {
    expect(await post(headers, wrong(size), isChunked)).toBeError(422, 'VALIDATION_FAILED');
    expect((await post(headers, right(size), isChunked)).status).toBe(200);
  });

  test.each(REFUSED)('%s is refused, whatever it holds', async (...[, headers, status, code, size]) => {
    for (const bytes of [wrong(size), right(size)]) {
      const reply = await post(headers, bytes, isChunked);
      expect(reply).toBeError(status, code);
      expect(reply.text).not.toContain(CANARY);
    }
  });
});

test('a body that really is compressed is refused like one that only says so', async () => {
  const reply = await post([JSON_TYPE, 'Content-Encoding: gzip'], gzipSync(right()), false);
  expect(reply).toBeError(400, 'UNSUPPORTED_ENCODING');
});

test('a body whose transfer is compressed is refused', async () => {
  const reply = await post([JSON_TYPE, 'Transfer-Encoding: gzip, chunked'], right(), true);
  expect(reply).toBeError(400, 'UNSUPPORTED_ENCODING');
});

test('a body of the wrong type is not looked at before the caller is known', async () => {
  const reply = await strongroom.admin.anonymous.post('/api/v2/workspace', 'x', { 'content-type': 'text/plain' });
  expect(reply).toBeError(401, 'TOKEN_MISSING');
});
