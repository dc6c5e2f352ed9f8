import { once } from 'node:events';
import { connect } from 'node:net';
import { Caller } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { EventStreamClient } from '../../kit/event-stream.js';
import { exchange, firstReply, rawRequest } from '../../kit/raw.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

/** Longer than any of these tests takes. */
const LONG = '60';
/** What Node answers to a head that asks for it. */
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Sends a part of a request, and waits until its head was read. @returns all that comes behind that, when the connection is closed */
async function begun(url: string, bytes: Buffer): Promise<{ readonly received: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const received = once(socket, 'close').then(() => text.slice(CONTINUE.length));
  socket.write(bytes);
  await until('the head to be read', 20_000, () => text.startsWith(CONTINUE));
  return { received };
}

describe('a node that is told to leave', () => {
  let service: Service;
  let admin: Caller;

  beforeEach(async () => {
    service = await Service.start({ env: { DATABASE_URL: await migratedDatabase(), DRAIN_SECONDS: LONG } });
    admin = new Caller(service.url, await service.firstToken());
  });

  afterEach(async () => {
    await service.kill();
    await service.dispose();
  });

  const leaving = () =>
    until('readiness to be refused', 20_000, async () => (await admin.get('/readyz')).status === 503);

  test('says so to balancers on SIGTERM, and answers what still comes on connections that it closes then, and does nothing that comes behind that', async () => {
    expect((await admin.get('/api/v1/projects')).headers.connection).toBe('keep-alive');
    service.signal('SIGTERM');
    await leaving();
    for (const path of ['/readyz', '/api/status']) {
      const reply = await admin.get(path);
      expect(reply).toBeError(503, 'SHUTTING_DOWN');
      expect(reply.headers['retry-after']).toBe('5');
    }
    expect(service.output).not.toContain('SHUTTING_DOWN');
    const replies = await Promise.all([
      admin.get('/livez'),
      admin.get('/api/v1/projects'),
      admin.graphql('{ projects { nodes { id } } }'),
    ]);
    expect(replies.map(({ status, headers }) => [status, headers.connection])).toEqual([
      [200, 'close'],
      [200, 'close'],
      [200, 'close'],
    ]);
    for (const refused of [await admin.anonymous.get('/api/v1/projects'), await admin.get('/nowhere')]) {
      expect(refused.headers.connection).toBe('close');
    }
    const common = ['Host: x', `Authorization: Bearer ${admin.token}`, 'Content-Type: application/json'];
    const body = JSON.stringify({ projectName: 'Behind', slug: 'behind-a-close' });
    const change = rawRequest(['POST /api/v2/workspace HTTP/1.1', ...common, `Content-Length: ${body.length}`], body);
    const both = Buffer.concat([rawRequest(['GET /api/v1/projects HTTP/1.1', ...common]), change]);
    expect(firstReply(await exchange(service.url, both))).toMatchObject({ status: 200, rest: '' });
    expect((await admin.get('/api/v1/projects')).body.projects).toEqual([]);
  });

  test('answers requests whose bodies do not come to an end, and does not wait for them', async () => {
    const body = JSON.stringify({ query: '{ projects { nodes { id } } }' });
    const head = ['POST /graphql HTTP/1.1', 'Host: x', `Authorization: Bearer ${admin.token}`, 'Expect: 100-continue'];
    const half = rawRequest([...head, 'Content-Type: application/json', `Content-Length: ${body.length}`], '{');
    const withoutHead = exchange(service.url, half.subarray(0, 90));
    const halves = await Promise.all([begun(service.url, half), begun(service.url, half)]);
    service.signal('SIGINT');
    for (const { received } of halves) {
      const reply = firstReply(await received);
      expect(reply).toBeError(503, 'SHUTTING_DOWN');
      expect(reply.headers).toMatchObject({ 'retry-after': '5', connection: 'close' });
    }
    expect(await withoutHead).toBe('');
    expect(await service.exit()).toBe(0);
  });

  test('does not wait for balancers on Ctrl-C, nor for who reads a stream of changes, which it ends', async () => {
    const stream = await EventStreamClient.open(admin, '/api/v1/events');
    await stream.count(1);
    service.signal('SIGINT');
    expect(await service.exit()).toBe(0);
    await until('the stream to end', 20_000, () => stream.isEnded);
    expect(stream.lastId).not.toBeNull();
  });
});
