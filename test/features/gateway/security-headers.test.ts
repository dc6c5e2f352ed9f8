import type { Reply } from '../../kit/caller.js';
import { exchange, firstReply } from '../../kit/raw.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

const WANTED = {
  'content-security-policy': expect.stringContaining("default-src 'none'"),
  'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
};

const raw = async (text: string): Promise<Reply> => firstReply(await exchange(strongroom.url, text));

test.each<[string, number, () => Promise<Reply>]>([
  ['a success', 200, () => strongroom.admin.get('/api/v1/projects')],
  ['GraphQL', 200, () => strongroom.admin.graphql('{ __typename }')],
  ['metrics', 200, () => strongroom.admin.get('/metrics')],
  ['OPTIONS', 204, () => strongroom.admin.request({ method: 'OPTIONS', path: '/graphql' })],
  [
    'what did not change',
    304,
    async () => {
      const { etag } = (await strongroom.admin.get('/api/v1/projects')).headers;
      return strongroom.admin.get('/api/v1/projects', { 'if-none-match': String(etag) });
    },
  ],
  ['a broken GraphQL request', 400, () => strongroom.admin.post('/graphql', {})],
  ['a caller without a token', 401, () => strongroom.admin.anonymous.get('/api/v1/projects')],
  ['a path that is not there', 404, () => strongroom.admin.get('/nope')],
  ['a path that cannot be read', 400, () => strongroom.admin.get('/api/v1/projects/%ff')],
  ['a method that is not there', 405, () => strongroom.admin.put('/livez')],
  ['a body of the wrong type', 415, () => strongroom.admin.post('/graphql', {}, { 'content-type': 'text/plain' })],
  ['what breaks a rule', 422, () => strongroom.admin.post('/api/v2/workspace', {})],
  ['what is no HTTP', 400, () => raw('no HTTP\r\n\r\n')],
  ['too long a head', 431, () => raw(`GET /${'x'.repeat(66_000)} HTTP/1.1\r\n\r\n`)],
  ['a tunnel', 400, () => raw('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')],
])('the answer to %s, %i, has the headers that protect browsers', async (_, status, ask) => {
  const reply = await ask();
  expect(reply.status).toBe(status);
  expect(reply.headers).toMatchObject(WANTED);
});
