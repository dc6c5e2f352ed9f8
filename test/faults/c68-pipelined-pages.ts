import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Caller } from '../kit/caller.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const MIB = 1024 * 1024;
const PATHS = ['/openapi.json', '/docs', '/graphql', '/assets/explorer.js', '/metrics', '/livez', '/readyz'];
/** About 130 KB. */
const REQUESTS = 3_000;
/** As many as a connection may send ahead. */
const AHEAD = 32;
const SOCKETS = 50;
const FOR_MS = 10_000;
const GROWTH_BYTES = 256 * MIB;
const SERVED_WITHIN_MS = 1_000;
/** Requests without a token in a window, as without a setting. */
const ANONYMOUS = 300;

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/html, */*;q=0.1\r\n\r\n`;

/** Asks for pages on one connection after another, and reads or not. Returns how many bytes came. */
async function flood(url: string, count: number, reads: boolean): Promise<number> {
  let received = 0;
  const end = performance.now() + FOR_MS;
  for (let round = 0; performance.now() < end; round += 1) {
    const socket = await open(url).catch(() => undefined);
    if (socket === undefined) continue;
    socket.on('data', (chunk: Buffer) => (received += chunk.length));
    if (!reads) socket.pause();
    socket.write(get(PATHS[round % PATHS.length] as string).repeat(count));
    // By a reset too, which `once` would take for a fault.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await Promise.race([closed, delay(reads ? 500 : Math.max(0, end - performance.now()))]);
    socket.destroy();
  }
  return received;
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** What a service grew by and how long another client waited at most while `work` ran. */
async function measured<T>(installation: { url: string; pid: number }, work: () => Promise<T>) {
  const before = await residentBytes(installation.pid);
  let isOver = false;
  let [growth, wait] = [0, 0];
  const watching = (async () => {
    while (!isOver) {
      const begun = performance.now();
      const { status } = await new Caller(installation.url, null).get('/livez');
      expectThat(status === 200, `a probe was answered ${status}`);
      wait = Math.max(wait, performance.now() - begun);
      growth = Math.max(growth, (await residentBytes(installation.pid)) - before);
      await delay(20);
    }
  })();
  const result = await work().finally(() => {
    isOver = true;
  });
  await watching;
  return { result, growth, wait };
}

export const check: Check = {
  id: 'C68',
  title: 'pages asked for in pipelines',
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    const told: string[] = [];
    await repeat(times, () =>
      withInstallation(
        async ({ service }) => {
          const at = { url: service.url, pid: service.child.pid as number };
          const page = async () => (await new Caller(service.url, null).get('/openapi.json')).text.length;
          const largest = Math.max(await page(), 4 * MIB);
          for (const [count, reads] of [
            [REQUESTS, false],
            [AHEAD, false],
            [REQUESTS, true],
            [AHEAD, true],
          ] as const) {
            const { result, growth, wait } = await measured(at, () =>
              Promise.all(Array.from({ length: SOCKETS }, () => flood(service.url, count, reads))),
            );
            const received = result.reduce((sum, bytes) => sum + bytes, 0);
            const label = `${count} ahead, ${reads ? 'read' : 'not read'}`;
            const found = `${label}: ${Math.round(received / MIB)} MiB came, memory grew by ${Math.round(growth / MIB)} MiB, a probe waited ${Math.round(wait)} ms`;
            expectThat(growth <= GROWTH_BYTES, found);
            expectThat(wait <= SERVED_WITHIN_MS, found);
            expectThat(received <= ANONYMOUS * largest, found);
            told.push(found);
          }
        },
        { RATE_LIMIT: 'on' },
      ),
    );
    return told.join('; ');
  },
};
