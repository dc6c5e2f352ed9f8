import { useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const CANARY = 'cAnArY-0123456789';

/** Lines of the log, parsed; what is no JSON (the greeting) is passed over. */
const linesOf = (output: string): Record<string, unknown>[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('the log of requests', () => {
  const strongroom = useStrongroom({ LOG_LEVEL: 'debug' });

  test('tells at debug what was asked by its route, and nothing that was sent', async () => {
    const { admin } = strongroom;
    const replies = [
      await admin.get(`/api/v1/projects/${CANARY}?${CANARY}=${CANARY}`, { 'user-agent': CANARY }),
      await admin.get(`/${CANARY}`),
      await admin.graphql(`query Q { projects { nodes { id } } }`, { [CANARY.replaceAll('-', '_')]: CANARY }),
    ];
    const ids = replies.map(({ headers }) => headers['x-request-id']);
    const lines = await until('the lines', 20_000, async () => {
      const found = linesOf(await strongroom.log()).filter(({ requestId }) => ids.includes(requestId as string));
      return found.length === ids.length && found;
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
    expect(await strongroom.log()).not.toContain(CANARY);
  });
});

describe('the log at its usual level', () => {
  const strongroom = useStrongroom({ LOG_LEVEL: 'info' });

  test('has no line for a request that was answered', async () => {
    const { headers } = await strongroom.admin.get('/api/v1/projects');
    expect(headers['x-request-id']).toBeDefined();
    expect(await strongroom.log()).not.toContain('request completed');
  });
});
