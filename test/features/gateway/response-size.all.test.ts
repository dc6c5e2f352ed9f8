import { connect, type Socket } from 'node:net';
import { Exposition } from '../../kit/exposition.js';
import { type Caller, type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

/** JSON writes six characters for it. */
const SIGN = '\u0001';

const strongroom: Strongroom = useStrongroom({ REPLY_CACHE_MIB: '0', RESPONSE_MEMORY_MIB: '224' });

let admin: Caller;
let other: Caller;
let id: string;
/** A response of 62 MiB, of which one token may have one in memory, and all together two; and how long it is. */
let query: string;
let length: number;
beforeAll(async () => {
  const seeded = await strongroom.seed.project();
  admin = seeded.admin;
  other = await strongroom.seed.caller(admin, { project: seeded.project.id });
  const place = { projectId: seeded.project.id, environment: 'dev' };
  await admin.post('/api/v4/secrets/PART', { ...place, secretValue: SIGN.repeat(160 * 1024) });
  const whole = await admin.post('/api/v4/secrets/WHOLE', { ...place, secretValue: '${PART}'.repeat(6) });
  id = whole.body.secret.id;
  query = ofSize(11);
  ({ length } = (await admin.graphql(query)).text);
});

/** A document whose response has so many times 5.6 MiB. */
const ofSize = (times: number): string => {
  const aliases = Array.from({ length: times }, (_, index) => `v${index}: secretValue`).join(' ');
  return `{ secret(id: "${id}", expandSecretReferences: true) { ${aliases} } }`;
};

const metrics = async (): Promise<Exposition> => new Exposition((await admin.anonymous.get('/metrics')).text);
const memory = async (): Promise<number> => (await metrics()).sum('strongroom_response_memory_bytes');
const refused = async (reason: string): Promise<number> =>
  (await metrics()).sum('strongroom_load_refusals_total', { reason });

/** Asks and reads nothing. */
function askWithoutReading({ url, token }: Caller, query: string): Socket {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({ query });
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

test('a response over 64 MiB is refused, however it came to be so long', async () => {
  const before = await refused('size');
  const reply = await admin.graphql(ofSize(12));
  expect(reply).toBeError(413, 'ANSWER_TOO_LARGE');
  expect(await refused('size')).toBe(before + 1);
  expect(await memory()).toBe(0);
});

test('responses that clients of one token do not read take half of the memory', async () => {
  const socket = askWithoutReading(admin, query);
  try {
    await until('the response to be held', 20_000, async () => (await memory()) === length);
    expect(await admin.graphql(query)).toBeError(503, 'OVERLOADED');
    expect((await other.graphql(query)).status).toBe(200);
  } finally {
    socket.destroy();
  }
  await until('the memory to be free', 20_000, async () => (await memory()) === 0);
  expect((await admin.graphql(query)).status).toBe(200);
});

test('responses that nobody reads take no more memory than all may, and give it back', async () => {
  const sockets: Socket[] = [];
  try {
    for (const [index, caller] of [admin, other].entries()) {
      sockets.push(askWithoutReading(caller, query));
      await until(`${index + 1} responses to be held`, 20_000, async () => (await memory()) === (index + 1) * length);
    }
    const reply = await admin.graphql(query);
    expect(reply).toBeError(503, 'OVERLOADED');
    expect(reply.headers['retry-after']).toBe('1');
    expect((await admin.get('/api/v1/projects')).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await until('the memory to be free', 20_000, async () => (await memory()) === 0);
  expect((await admin.graphql(query)).status).toBe(200);
});
