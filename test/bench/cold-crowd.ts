import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Ground } from './ground.ts';
import { listPath, type OwnProject } from './mixes.ts';
import type { Peer } from './peer.ts';

const CROWD = 100;
const IDLE = 300;
const ROUNDS = 5;

interface Crowd {
  /** Until all had their list, in milliseconds. */
  readonly all: number;
  /** Of the hundred, the last but one. */
  readonly p99: number;
}

/** Prints how long a hundred clients take that all start at once and log in, beside hundreds of idle connections. */
export async function runColdCrowd({ service, projects }: Ground, peer: Peer | null): Promise<void> {
  const ours: Crowd[] = [];
  const theirs: Crowd[] = [];
  const login = (place: number) => loginAndList(service.url, projects[place % projects.length] as OwnProject);
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await crowd(service.url, login));
    if (peer !== null) theirs.push(await crowd(peer.url, (place) => peer.loginAndList(place)));
  }
  console.log(`\n${CROWD} cold clients at once, each a login and a list of 100, beside ${IDLE} idle connections:`);
  for (const [name, crowds] of Object.entries({ ours, theirs }))
    if (crowds.length > 0)
      console.log(`${name.padEnd(8)} all ${median(crowds, 'all')} ms, p99 ${median(crowds, 'p99')} ms`);
}

async function crowd(url: string, work: (place: number) => Promise<void>): Promise<Crowd> {
  const idle = await Promise.all(Array.from({ length: IDLE }, () => connectTo(url)));
  try {
    const begun = performance.now();
    const times = await Promise.all(
      Array.from({ length: CROWD }, async (_, place) => {
        await work(place);
        return performance.now() - begun;
      }),
    );
    const sorted = times.sort((a, b) => a - b);
    return { all: sorted.at(-1) ?? 0, p99: sorted.at(-2) ?? 0 };
  } finally {
    for (const socket of idle) socket.destroy();
  }
}

async function connectTo(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

async function loginAndList(url: string, { id, login }: OwnProject): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(login);
  const { accessToken } = await ask(`${url}/api/v1/auth/universal-auth/login`, { method: 'POST', headers, body });
  await ask(`${url}${listPath(id, 100)}`, { headers: { authorization: `Bearer ${accessToken}` } });
}

async function ask(url: string, init: RequestInit): Promise<{ accessToken: string }> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return (await response.json()) as { accessToken: string };
}

function median(crowds: readonly Crowd[], of: keyof Crowd): string {
  const sorted = crowds.map((one) => one[of]).sort((a, b) => a - b);
  return (sorted[sorted.length >> 1] ?? Number.NaN).toFixed(0);
}
