import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const IDLE = 2_000;
const OPENED_AT_ONCE = 50;
const NEWCOMERS = 20;
const SERVED_WITHIN_MS = 1_000;
const ASK = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
/** Whose connections are idle, and who comes: that address again, and another one. */
const [CROWD, OTHER] = ['127.0.0.1', '127.0.0.2'] as const;

/** Asks on a new connection, which stays open. @throws Error when it is closed without a response */
async function askFrom(url: string, localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  const closed = new Promise<never>((_, reject) => socket.once('close', () => reject(new Error('closed unanswered'))));
  closed.catch(() => undefined);
  socket.on('error', () => undefined).write(ASK);
  const [chunk] = await Promise.race([once(socket, 'data') as Promise<[Buffer]>, closed]);
  expectThat(String(chunk).startsWith('HTTP/1.1 200 '), `a client was answered ${String(chunk).slice(0, 60)}`);
  return socket.resume();
}

/** Clients that keep so many connections of one address open, and open anew each that is closed. Ends with `isOver`. */
async function crowd(url: string, isOver: () => boolean): Promise<void> {
  const open = new Set<Socket>();
  while (!isOver()) {
    const missing = Math.min(OPENED_AT_ONCE, IDLE - open.size);
    const sockets = await Promise.all(
      Array.from({ length: missing }, () => askFrom(url, CROWD).catch(() => undefined)),
    );
    for (const socket of sockets) {
      if (socket === undefined || socket.destroyed) continue;
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    await delay(20);
  }
  for (const socket of open) socket.destroy();
}

async function longestWait(url: string, address: string): Promise<number> {
  let longest = 0;
  for (let asked = 0; asked < NEWCOMERS; asked += 1) {
    const begun = performance.now();
    (await askFrom(url, address)).destroy();
    longest = Math.max(longest, performance.now() - begun);
    await delay(100);
  }
  return longest;
}

export const check: Check = {
  id: 'C67',
  title: 'idle connections of one address',
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    const told: string[] = [];
    await withInstallation((installation) =>
      repeat(times, async () => {
        const { url, child } = installation.service;
        const descriptors = async (): Promise<number> => (await readdir(`/proc/${child.pid}/fd`)).length;
        const before = await descriptors();
        let isOver = false;
        const crowding = crowd(url, () => isOver);
        await until('the address to be at its limit', 20_000, async () => (await descriptors()) - before >= 450);
        const waits = await Promise.all([longestWait(url, OTHER), longestWait(url, CROWD)]).finally(() => {
          isOver = true;
        });
        const most = (await descriptors()) - before;
        await crowding;
        expectThat(
          Math.max(...waits) <= SERVED_WITHIN_MS,
          `newcomers waited ${waits.map(Math.round).join(' and ')} ms`,
        );
        await until('all connections to be closed', 10_000, async () => (await descriptors()) <= before + 5);
        told.push(
          `${NEWCOMERS} newcomers of another address within ${Math.round(waits[0])} ms, of the same one within ${Math.round(waits[1])} ms, ${most} connections open`,
        );
      }),
    );
    return told.join('; ');
  },
};
