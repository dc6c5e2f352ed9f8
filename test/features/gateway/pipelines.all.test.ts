import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { metricAt } from './limited.js';

/** Requests that a connection may send ahead of their answers. */
const AHEAD = 32;
const strongroom: Strongroom = useStrongroom({ RATE_LIMIT: 'on' });

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(strongroom.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Requests for the OpenAPI document that were counted against the limit of this address. */
async function counted(): Promise<number> {
  const { headers } = await strongroom.admin.anonymous.get('/');
  return Number(headers['ratelimit-limit']) - Number(headers['ratelimit-remaining']) - 1;
}

describe('requests that are sent ahead of their answers', () => {
  test('are answered in their order', async () => {
    const socket = await open();
    const received: string[] = [];
    socket.on('data', (chunk) => received.push(String(chunk)));
    socket.write(Array.from({ length: AHEAD }, (_, n) => get(n % 2 === 0 ? '/livez' : `/nowhere/${n}`)).join(''));
    const statuses = () => received.join('').match(/HTTP\/1\.1 \d+/g) ?? [];
    await until('all answers', 20_000, () => statuses().length === AHEAD);
    expect(statuses()).toEqual(Array.from({ length: AHEAD }, (_, n) => `HTTP/1.1 ${n % 2 === 0 ? 200 : 404}`));
    socket.destroy();
  });

  test('are not worked on while the client does not read, and are once it does', async () => {
    const before = await counted();
    const socket = await open();
    socket.pause().write(get('/openapi.json').repeat(AHEAD));
    await until('work to begin', 20_000, async () => (await counted()) > before + 1);
    // Those whose answers lie in the buffers of the network count; the others have not begun.
    const begun = (await counted()) - before;
    expect(begun).toBeLessThan(AHEAD);
    let size = 0;
    socket.on('data', (chunk: Buffer) => (size += chunk.length)).resume();
    const { headers } = await strongroom.admin.anonymous.request({ method: 'HEAD', path: '/openapi.json' });
    await until('all answers', 20_000, () => size > AHEAD * Number(headers['content-length']));
    socket.destroy();
  });

  test.each(['/livez', '/metrics', '/openapi.json'])('of %s and are too many end the connection', async (path) => {
    const operation = `strongroom_operations_total{api="rest",operation="GET ${path}",code="OK"}`;
    const at = { url: strongroom.url } as never;
    const answered = async () => (await metricAt(at, operation)) || 0;
    const before = await answered();
    const socket = await open();
    socket.resume().write(get(path).repeat(3_000));
    await until('the end of the connection', 20_000, () => socket.destroyed);
    expect((await answered()) - before).toBeLessThanOrEqual(AHEAD + 1);
    expect((await strongroom.admin.get('/api/v1/projects')).status).toBe(200);
  });
});
