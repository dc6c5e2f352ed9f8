import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, mustSucceed } from '../kit/caller.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

/** Of each kind. */
const SOCKETS = 500;
/** Of those that never read, so many ask for more than the network holds for them; the others for a little. */
const STUCK = 40;
/** Read slowly, and are to stay. */
const READERS = 20;
const OPENED_AT_ONCE = 50;
const BYTE_EVERY_MS = 1_000;
const MEASURED_MS = 8_000;
const OTHERS = 4;
const SLOWER_AT_MOST = 2;
/** Less than this is the clock and the scheduler, whatever it is twice of. */
const NOISE_MS = 25;
const BIG_SECRETS = { count: 100, bytes: 100_000 };

/** What is tried is how long each is borne. */
const ALL_FROM_HERE = { MAX_CONNECTIONS_PER_ADDRESS: '2000' };

interface Kind {
  readonly name: string;
  readonly closedWithinMs: number;
  readonly count: number;
  /** Sent at once. */
  readonly head: string;
  /** Sent on, byte by byte; nothing more when it is empty. */
  readonly trickle: string;
}

const kinds = ({ token }: Caller, big: string): Kind[] => {
  const common = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
  return [
    { name: 'header', closedWithinMs: 12_000, count: SOCKETS, head: 'GET /livez HTTP/1.1\r\nX-A: ', trickle: 'a' },
    {
      name: 'body',
      closedWithinMs: 35_000,
      count: SOCKETS,
      head: `POST /graphql HTTP/1.1\r\n${common}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n`,
      trickle: ' ',
    },
    {
      name: 'small answer',
      closedWithinMs: 65_000,
      count: SOCKETS - STUCK,
      head: `GET /livez HTTP/1.1\r\n${common}\r\n`.repeat(20),
      trickle: '',
    },
    {
      name: 'big answer',
      closedWithinMs: 65_000,
      count: STUCK,
      head: `GET ${big} HTTP/1.1\r\n${common}\r\n`,
      // Whoever only looks for silence is held off by this for ever.
      trickle: 'G',
    },
  ];
};

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The end of a connection, by a reset too. */
const closing = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

/** Answers how long a client of a kind was borne, in milliseconds. */
async function beSlow(url: string, { head, trickle, closedWithinMs, name }: Kind): Promise<number> {
  const socket = await open(url);
  const begun = performance.now();
  const closed = closing(socket).then(() => performance.now() - begun);
  if (name === 'header' || name === 'body') socket.resume();
  else socket.pause();
  socket.write(head);
  const sending = trickle === '' ? undefined : setInterval(() => socket.write(trickle), BYTE_EVERY_MS);
  // A paused socket does not see its end; a write to it does, once the service has cut it.
  const probe = setInterval(() => socket.isPaused() && trickle === '' && socket.write('\r\n'), BYTE_EVERY_MS);
  const late = delay(closedWithinMs + 5_000, null, { ref: false });
  const tookMs = await Promise.race([closed, late]);
  clearInterval(sending);
  clearInterval(probe);
  socket.destroy();
  expectThat(tookMs !== null, `${name}: a connection was still open after ${closedWithinMs + 5_000} ms`);
  return tookMs;
}

/** Takes a piece of a big answer every second, and answers whether the connection is still there at the end. */
async function readSlowly(url: string, { head }: Kind, forMs: number): Promise<boolean> {
  const socket = await open(url);
  socket.pause().write(head);
  const reading = setInterval(() => socket.read(16_384), BYTE_EVERY_MS);
  const isOpen = await Promise.race([closing(socket).then(() => false), delay(forMs, true)]);
  clearInterval(reading);
  socket.destroy();
  return isOpen;
}

/** The 99th percentile of what other clients wait, in milliseconds, until `end`. */
async function p99(admin: Caller, end: Promise<unknown>): Promise<number> {
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  const times: number[] = [];
  const ask = async (): Promise<void> => {
    while (!isOver) {
      const begun = performance.now();
      const { status, text } = await admin.get('/api/v1/projects');
      expectThat(status === 200, `another client was answered ${status}: ${text}`);
      times.push(performance.now() - begun);
      await delay(5);
    }
  };
  await Promise.all(Array.from({ length: OTHERS }, ask));
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number;
}

async function beSlowTogether(url: string, all: readonly Kind[]): Promise<string> {
  const told: string[] = [];
  const running: Promise<void>[] = [];
  for (const kind of all) {
    const clients: Promise<number>[] = [];
    running.push(
      (async () => {
        for (let index = 0; index < kind.count; index += 1) {
          clients.push(beSlow(url, kind));
          if (index % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await delay(100);
        }
        const slowest = Math.max(...(await Promise.all(clients)));
        expectThat(slowest <= kind.closedWithinMs, `${kind.name}: one was open for ${Math.round(slowest)} ms`);
        told.push(`${kind.count} of ${kind.name} within ${(slowest / 1_000).toFixed(1)} s`);
      })(),
    );
  }
  await Promise.all(running);
  return told.join(', ');
}

/** A list of secrets that is larger than what the network holds for a client. */
async function makeBigList(admin: Caller): Promise<string> {
  const project = mustSucceed(await admin.post('/api/v2/workspace', { projectName: 'Big', slug: 'big-answers' })).body
    .project;
  const place = { projectId: project.id, environment: 'dev' };
  for (let index = 0; index < BIG_SECRETS.count; index += 1)
    mustSucceed(
      await admin.post(`/api/v4/secrets/BIG_${index}`, { ...place, secretValue: 'x'.repeat(BIG_SECRETS.bytes) }),
    );
  const path = `/api/v4/secrets?projectId=${project.id}&environment=dev`;
  // Kept from here on: what is tried is how its answers leave, not how they are made.
  mustSucceed(await admin.get(path));
  return path;
}

export const check: Check = {
  id: 'C53',
  title: 'slow clients',
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    const told: string[] = [];
    await repeat(times, () =>
      withInstallation(async (installation) => {
        const admin = await installation.admin();
        const { url } = installation.service;
        const all = kinds(admin, await makeBigList(admin));
        const [big] = all.slice(-1) as [Kind];
        const before = await p99(admin, delay(MEASURED_MS));
        const slow = beSlowTogether(url, all);
        const readers = Array.from({ length: READERS }, () => readSlowly(url, big, big.closedWithinMs + 10_000));
        const during = await p99(
          admin,
          slow.catch(() => undefined),
        );
        const closed = await slow;
        const stayed = (await Promise.all(readers)).filter((isOpen) => isOpen).length;
        const after = await p99(admin, delay(MEASURED_MS));

        expectThat(stayed === READERS, `${READERS - stayed} of ${READERS} that read slowly were cut`);
        const usual = Math.max(before, after, NOISE_MS);
        const ratio = during / usual;
        expectThat(
          ratio <= SLOWER_AT_MOST,
          `p99 of others was ${during.toFixed(1)} ms, and ${usual.toFixed(1)} before`,
        );
        told.push(
          `closed: ${closed}; ${stayed} slow readers stayed; p99 of others ${ratio.toFixed(2)} times the usual`,
        );
      }, ALL_FROM_HERE),
    );
    return told.join('; ');
  },
};
