import type { Reply, RequestOptions } from '../../kit/caller.js';
import { formsOf, foundIn, MARK } from '../../kit/canary.js';
import { type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { badGraphQL } from './bad-graphql.js';
import { type BadRequest, badRest } from './bad-rest.js';

const strongroom: Strongroom = useStrongroom({ RATE_LIMIT: 'off', LOG_LEVEL: 'trace' });

/** As a password may look: a short name, one with a sign, one that is nearly a name of ours. */
const CANARIES = [MARK, `${MARK}-1`];
const NEEDLES = formsOf('canary', MARK);

const graphql = (canary: string): BadRequest[] =>
  badGraphQL(canary).map(({ name, body }) => ({ name, request: { method: 'POST', path: '/graphql', body } }));

/** Headers of requests that are refused, for what they ask or for the header. */
function badHeaders(canary: string): BadRequest[] {
  const refused: RequestOptions[] = [
    { method: 'GET', path: '/api/v1/projects/none' },
    { method: 'GET', path: '/nowhere' },
    { method: 'TRACE', path: '/api/v1/projects' },
    { method: 'POST', path: '/api/v2/workspace', body: {} },
    { method: 'POST', path: '/graphql', body: { query: '{ nothing }' } },
    { method: 'POST', path: '/graphql', body: { query: 'mutation { createTag(input: {}) { __typename } }' } },
    { method: 'POST', path: '/api/v1/auth/universal-auth/login', body: {} },
  ];
  const headers: [string, string][] = [
    ['authorization', `Bearer ${canary}`],
    ['authorization', `Basic ${canary}`],
    ['authorization', `${canary} ${canary}`],
    ['authorization', canary],
    ['idempotency-key', canary],
    ['idempotency-key', `${canary} ${canary}`],
    ['if-none-match', `"${canary}"`],
    ['if-none-match', canary],
    ['content-type', `${canary}/json`],
    ['content-type', `application/${canary}`],
    ['content-type', `application/json; charset=${canary}`],
    ['content-encoding', canary],
    ['accept', `${canary}/${canary}`],
    ['accept', `multipart/mixed; ${canary}=1`],
    ['accept-encoding', canary],
    ['accept-language', canary],
    ['host', canary],
    ['host', `${canary}:80`],
    ['x-forwarded-for', canary],
    ['x-forwarded-host', canary],
    ['x-forwarded-proto', canary],
    ['forwarded', `for=${canary}`],
    ['user-agent', canary],
    ['origin', `https://${canary}`],
    ['referer', `https://${canary}/`],
    ['cookie', `${canary}=${canary}`],
    ['x-request-id', canary],
    ['traceparent', canary],
    ['range', `bytes=${canary}`],
    ['apollo-require-preflight', canary],
    ['x-apollo-operation-name', canary],
    [canary, canary],
  ];
  return refused.flatMap((request) =>
    headers.map(([name, value]) => ({
      name: `${request.method} ${request.path}, header ${name}`,
      request: { ...request, headers: { [name]: value } },
    })),
  );
}

const isRefused = ({ status, body }: Reply): boolean => status >= 400 || body?.errors !== undefined;

describe('what was sent is repeated', () => {
  test.each([
    ['no document and no variable', graphql],
    ['no path, no query and no body', badRest],
    ['no header', badHeaders],
  ])(
    'of %s',
    async (_, requests) => {
      let refused = 0;
      for (const canary of CANARIES) {
        for (const { name, request } of requests(canary)) {
          const reply = await strongroom.admin.request(request);
          const told = Buffer.from(`${reply.text} ${JSON.stringify(reply.headers)}`);
          if (!isRefused(reply)) continue;
          refused += 1;
          expect([name, foundIn(told, NEEDLES), told.toString().toLowerCase().includes(MARK.toLowerCase())]).toEqual([
            name,
            [],
            false,
          ]);
          expect([name, reply.status < 500 || reply.text]).toEqual([name, true]);
        }
      }
      expect(refused).toBeGreaterThan(300);
    },
    300_000,
  );

  test('in no line of the log', async () => {
    await strongroom.admin.get('/livez');
    await until('the log to be written', 5_000, async () => strongroom.log() !== '');
    expect(foundIn(Buffer.from(strongroom.log()), NEEDLES)).toEqual([]);
  });
});
