import { ERRORS } from '../../kit/error-codes.js';
import fc from '../../kit/properties.js';
import { exchange, firstReply } from '../../kit/raw.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const REQUESTS = 300;

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'get',
  'BREW',
  'M-SEARCH',
];
const PATHS = [
  '/graphql',
  '/livez',
  '/api/v1/projects',
  '/api/v1/projects/x',
  '/api/v2/workspace',
  '/api/v4/secrets',
  '/api/v4/secrets/batch',
  '/api/v1/auth/universal-auth/login',
  '/nope',
  '*',
  'http://x/livez',
];
const anything = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1'));
const target = fc
  .tuple(fc.constantFrom(...PATHS), fc.oneof(fc.constant(''), anything, fc.webPath(), fc.webQueryParameters()))
  .map(([path, more]) => path + more);
const HEADERS = [
  'Host: x',
  'Host: y',
  'Content-Type: application/json',
  'Content-Type: application/json\t;charset=utf-16',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Transfer-Encoding: chunked',
  'Content-Length: 0',
  'Content-Length: 7',
  'Expect: 100-continue',
  'Upgrade: h2c',
  'Range: bytes=0-1',
  'Accept: text/html',
  'Accept-Encoding: br;q=2, identity;q=0',
  'If-None-Match: *',
  'Idempotency-Key: ',
  'Origin: null',
  'X-Forwarded-For: nobody',
];
const header = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...HEADERS) },
  fc.tuple(anything, anything).map(([name, value]) => `${name}: ${value}`),
);
const body = fc.oneof(
  fc.constant(''),
  anything,
  fc.json(),
  fc.json().map((text) => `{"query":"{ __typename }","variables":${text}}`),
  fc.constantFrom('0\r\n\r\n', '7\r\n{"a":1}\r\n0\r\n\r\n', 'ffffffffffffffffff\r\n', '['.repeat(5_000)),
);

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly string[];
  readonly body: string;
  readonly isMeasured: boolean;
  readonly isKnown: boolean;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, anything),
  target,
  version: fc.oneof({ weight: 8, arbitrary: fc.constant('HTTP/1.1') }, fc.constantFrom('HTTP/1.0', 'HTTP/2.0', '')),
  headers: fc.array(header, { maxLength: 8 }),
  body,
  isMeasured: fc.boolean(),
  isKnown: fc.boolean(),
});

/** No announced body is longer: nothing waits for bytes that do not come, and what follows a request is no HTTP and ends it. */
const REST = '\r\n\r\nno HTTP\r\n\r\n';

/** What a client would send that keeps no rule. */
function bytesOf({ method, target: path, version, headers, body: text, isMeasured, isKnown }: Asked): Buffer {
  const payload = Buffer.from(text, 'latin1');
  const lines = [
    `${method} ${path} ${version}`,
    'Host: x',
    ...(isKnown ? [`Authorization: Bearer ${strongroom.admin.token}`] : []),
    ...(isMeasured ? ['Content-Type: application/json', `Content-Length: ${payload.length}`] : []),
    ...headers,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), payload, Buffer.from(REST)]);
}

/** The first fault of an answer; null when it is as promised. */
function violationOf(received: string, { method }: Asked): string | null {
  const answers = received.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '');
  if (answers === '') return null;
  const { status, headers, body: json, text } = firstReply(answers);
  if (!/^HTTP\/1\.1 \d{3} /.test(answers)) return 'no HTTP';
  if (status < 200 || status >= 500) return `status ${status}`;
  if (headers['x-request-id'] === undefined || headers['x-content-type-options'] !== 'nosniff') return 'headers';
  if (status < 400 || method === 'HEAD') return null;
  const error = json?.errors?.[0]?.extensions ?? json;
  if (error?.reqId !== headers['x-request-id'] || error?.statusCode !== status) return `no envelope: ${text}`;
  return ERRORS[error.code as keyof typeof ERRORS]?.status === status ? null : `code ${error.code}`;
}

test(`${REQUESTS} requests of any bytes get a named error or a closed connection, and the service goes on`, async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(asked, async (request) => {
      const received = await exchange(strongroom.url, bytesOf(request));
      answered += received === '' ? 0 : 1;
      expect(violationOf(received, request)).toBeNull();
    }),
    { numRuns: REQUESTS },
  );

  // Closed without a word is allowed, and not what usually happens.
  expect(answered).toBeGreaterThan(REQUESTS * 0.9);
  const jobs = { backend: 'postgres', connected: expect.any(Boolean) };
  expect((await strongroom.admin.get('/readyz')).body).toEqual({ status: 'ok', databaseRole: 'service', jobs });
  expect((await strongroom.admin.graphql('{ __typename }')).body).toEqual({ data: { __typename: 'Query' } });
  expect(await strongroom.log()).not.toMatch(/"failure":"INTERNAL"/);
});
