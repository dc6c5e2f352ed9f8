import type { Reply, RequestOptions } from '../../kit/caller.js';
import { formsOf, foundIn, MARK } from '../../kit/canary.js';
import { sample } from '../../kit/scope.js';
import { someAtATime } from '../../kit/some-at-a-time.js';
import { type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { badGraphQL } from './bad-graphql.js';
import { type BadRequest, badRest } from './bad-rest.js';

const strongroom: Strongroom = useStrongroom({ LOG_LEVEL: 'trace' });

/**
 * As a password may look: a name that is too long for errors to repeat, as they do with unknown fields, and a text that is no name,
 * which documents cannot have in place of one.
 */
const [NAME, PASSWORD] = [MARK.padEnd(41, '0'), `${MARK}.1`];
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

/** Names of the forms of the canary that a reply has in its body or its headers, in whatever case. */
function echoesIn({ text, headers }: Reply): string[] {
  const reported = `${text} ${JSON.stringify(headers)}`;
  const inAnyCase = reported.toLowerCase().includes(MARK.toLowerCase()) ? ['in some case'] : [];
  return [...foundIn(Buffer.from(reported), NEEDLES), ...inAnyCase];
}

const isRefused = ({ status, body }: Reply): boolean => status >= 400 || body?.errors !== undefined;

describe('what was sent is repeated', () => {
  test('where it should be: the search finds it', async () => {
    const { admin } = await strongroom.seed.organization();
    const made = await admin.post('/api/v2/workspace', { projectName: MARK });
    expect([made.status, echoesIn(made)]).toEqual([200, ['canary, plain', 'in some case']]);
  });

  test.each([
    ['no document and no variable', 8, [NAME], graphql],
    ['no path, no query and no body', 16, [NAME, PASSWORD], badRest],
    ['no header', 1, [NAME, PASSWORD], badHeaders],
  ])('of %s', async (_, step, canaries, requests) => {
    let refused = 0;
    const ask = async ({ name, request }: BadRequest): Promise<void> => {
      const reply = await strongroom.admin.request(request);
      if (!isRefused(reply)) return;
      refused += 1;
      // The external systems of examples are not there.
      const isExpected = reply.status < 500 || reply.status === 502;
      expect([name, isExpected || reply.text, echoesIn(reply)]).toEqual([name, true, []]);
    };
    await someAtATime(sample(canaries.flatMap(requests), step), ask);
    expect(refused).toBeGreaterThan(300);
  });

  test('in no line of the log, and no unknown key either', async () => {
    const { admin } = await strongroom.seed.organization();
    const [path, key] = ['/api/v2/workspace', `${MARK}_key`];
    await admin.post(path, { projectName: 'Shop', [key]: 1 });
    await admin.post(path, { projectName: 'Shop', [key]: 1 }, { prefer: 'handling=strict' });
    await admin.get(`/api/v1/projects?${key}=1`);
    await admin.graphql(`{ ${key} }`);
    const last = await admin.get('/api/v1/projects');
    await strongroom.logLine(last.headers['x-request-id'] as string);
    expect(foundIn(Buffer.from(await strongroom.log()), NEEDLES)).toEqual([]);
  });
});

/** Lines of the log, parsed; what is no JSON (the greeting) is passed over. */
const linesOf = (output: string): Record<string, unknown>[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('the log of requests has at debug the route of each, and nothing that was sent', async () => {
  const { admin } = strongroom;
  const canary = 'wOrDs-0123456789';
  const replies = [
    await admin.get(`/api/v1/projects/${canary}?${canary}=${canary}`, { 'user-agent': canary }),
    await admin.get(`/${canary}`),
    await admin.graphql(`query Q { projects { nodes { id } } }`, { [canary.replaceAll('-', '_')]: canary }),
  ];
  const ids = replies.map(({ headers }) => headers['x-request-id']);
  const lines = await until('the lines', 20_000, async () => {
    const found = linesOf(await strongroom.log()).filter(({ requestId }) => ids.includes(requestId as string));
    const ofDebug = found.filter(({ level }) => Number(level) >= 20);
    return ofDebug.length === ids.length && ofDebug;
  });
  const reported = lines.map(({ time, milliseconds, ...line }) => {
    expect([typeof time, typeof milliseconds]).toEqual(['string', 'number']);
    return line;
  });
  const line = { level: 20, msg: 'request completed' };
  expect(reported).toEqual([
    { ...line, requestId: ids[0], method: 'GET', route: '/api/v1/projects/:projectId', status: replies[0]?.status },
    { ...line, requestId: ids[1], method: 'GET', route: null, status: 404 },
    { ...line, requestId: ids[2], method: 'POST', route: '/graphql', status: 200 },
  ]);
  expect(await strongroom.log()).not.toContain(canary);
});
