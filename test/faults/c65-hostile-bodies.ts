import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Caller } from '../kit/caller.ts';
import { HeldRequest } from '../kit/held-request.ts';
import { LOOP_TIME, longestTurn } from '../kit/loop-time.ts';
import { Service } from '../kit/service.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const SOCKETS = 300;
const OPENED_AT_ONCE = 25;
const ANSWERED_WITHIN_MS = 250;
const BLOCKED_AT_MOST_MS = 50;
const REPLIES_WITHIN_MS = 60_000;
const MIB = 1024 * 1024;

const CREATE = 'mutation ($input: CreateSecretsInput!) { createSecrets(input: $input) { secrets { id } } }';
const CREATE_ONE = 'mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }';
const LOG_IN = 'mutation ($input: LoginUniversalAuthInput!) { loginUniversalAuth(input: $input) { accessToken } }';
const LOGIN_PATH = '/api/v1/auth/universal-auth/login';
const BATCH_PATH = '/api/v4/secrets/batch';

/** Requests that are finished at once, all alike. */
interface Flood {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** With the token of a valid caller. */
  readonly hasToken: boolean;
  readonly isChunked?: boolean;
  /** Where it is not the usual one. */
  readonly sockets?: number;
}

const nearKeys = (name: string): Record<string, number> =>
  Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`${name}${index}`, 1]));

/** The body, filled up with blanks to 1 MiB. */
const filled = (body: unknown): string => {
  const text = JSON.stringify(body);
  return text + ' '.repeat(Math.max(0, MIB - text.length));
};

const place = (projectId: string) => ({ projectId, environment: 'dev', secretPath: '/' });

/** What 1,000 secrets may have, up to 1 MiB and 10,000 entries. @param run their keys are of this run */
function validBatch(projectId: string, run: string): object {
  const secrets = Array.from({ length: 1_000 }, (_, index) => ({
    secretKey: `${run}_${index}`,
    secretValue: 'v'.repeat(400),
    secretComment: 'c'.repeat(120),
    secretMetadata: Array.from({ length: 7 }, (_, at) => ({
      key: `key-${at}`,
      value: `value ${index}`,
      isEncrypted: at < 3,
    })),
  }));
  return { ...place(projectId), secrets };
}

function floods(projectId: string): Flood[] {
  const entries = {
    ...place(projectId),
    secrets: Array.from({ length: 30_000 }, (_, at) => ({ secretKey: `KEY_${at}` })),
  };
  const inVariables = (query: string, input: object): string => filled({ query, variables: { input } });
  const hostile = [
    { name: 'variables of 30,000 entries', path: '/graphql', body: inVariables(CREATE, entries) },
    { name: '30,000 entries over REST', path: BATCH_PATH, body: filled(entries) },
    { name: 'logins with 50,000 keys', path: LOGIN_PATH, body: filled(nearKeys('clientI')) },
    { name: 'logins in variables', path: '/graphql', body: inVariables(LOG_IN, nearKeys('clientI')) },
    { name: 'a secret with 50,000 keys', path: '/api/v4/secrets/K', body: filled(nearKeys('secretValu')) },
    { name: 'a secret in variables', path: '/graphql', body: inVariables(CREATE_ONE, nearKeys('secretValu')) },
  ];
  return [
    ...hostile.flatMap((each) => [
      { ...each, hasToken: false },
      { ...each, hasToken: true },
    ]),
    { ...(hostile[0] as (typeof hostile)[0]), name: 'chunks without a token', hasToken: false, isChunked: true },
    // Of the allowed shape, and wrong in every entry.
    {
      name: '9,900 wrong entries',
      path: BATCH_PATH,
      body: filled({ secrets: Array(990).fill({ secretKey: 1, secretMetadata: Array(8).fill({ k: 1 }) }) }),
      hasToken: true,
    },
    {
      name: '9,900 wrong entries in variables',
      path: '/graphql',
      body: inVariables(CREATE, {
        secrets: Array(990).fill({ secretKey: 1, secretMetadata: Array(8).fill({ k: 1 }) }),
      }),
      hasToken: true,
    },
    {
      name: '1,000 secrets over REST',
      path: BATCH_PATH,
      body: JSON.stringify(validBatch(projectId, 'R')),
      hasToken: true,
      sockets: 20,
    },
    {
      name: '1,000 secrets in variables',
      path: '/graphql',
      body: JSON.stringify({ query: CREATE, variables: { input: validBatch(projectId, 'G') } }),
      hasToken: true,
      sockets: 20,
    },
  ];
}

/** How long the slowest answers took, in milliseconds: of `/livez`, and of a small read by a valid caller. */
class Probe {
  readonly #thread: Worker;
  readonly begun: Promise<unknown>;
  readonly #answer: Promise<[livezMs: number, readMs: number]>;

  constructor({ url, token }: Caller, path: string) {
    const workerData = { url, token, paths: ['/livez', path] };
    this.#thread = new Worker(new URL('./probe-thread.mjs', import.meta.url), { workerData });
    this.begun = once(this.#thread, 'online');
    this.#answer = once(this.#thread, 'message').then(([slowest]) => slowest as [number, number]);
    this.#answer.catch(() => undefined);
  }

  end(): Promise<[livezMs: number, readMs: number]> {
    this.#thread.postMessage('end');
    return this.#answer;
  }
}

/** Who floods, and who asks meanwhile. */
interface Cast {
  readonly flooder: Caller;
  readonly victim: Caller;
  readonly projectId: string;
}

/**
 * Lets this thread, which sends the floods, and those that collect its garbage have what the service leaves of the processors: as
 * if they ran on a machine of their own.
 */
function yieldProcessors(isYielding: boolean): void {
  for (const thread of [process.pid, ...helperThreads()])
    try {
      setPriority(thread, isYielding ? 15 : 0);
    } catch {
      // Only root gets its priority back.
    }
}

function helperThreads(): number[] {
  const tasks = '/proc/self/task';
  if (!existsSync(tasks)) return [];
  const isHelper = (id: string) => readFileSync(join(tasks, id, 'comm'), 'utf8') === 'V8Worker\n';
  return readdirSync(tasks).filter(isHelper).map(Number);
}

interface Outcome {
  readonly name: string;
  readonly livezMs: number;
  readonly readMs: number;
  readonly blockedMs: number;
  readonly statuses: string;
}

async function flood(service: Service, { flooder, victim, projectId }: Cast, it: Flood): Promise<Outcome> {
  const { name, path, body, hasToken, isChunked = false, sockets = SOCKETS } = it;
  const headers: Record<string, string> = hasToken ? { authorization: `Bearer ${flooder.token}` } : {};
  const held: HeldRequest[] = [];
  await longestTurn(service);
  const probe = new Probe(victim, `/api/v1/projects/${projectId}`);
  await probe.begun;
  yieldProcessors(true);
  try {
    while (held.length < sockets)
      held.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(OPENED_AT_ONCE, sockets - held.length) }, () =>
            HeldRequest.open(flooder.url, { path, headers, body, keep: 1, isChunked }),
          ),
        )),
      );
    for (const request of held) request.finish();
    const replies = Promise.all(held.map(({ reply }) => reply));
    const all = await Promise.race([replies, delay(REPLIES_WITHIN_MS, null, { ref: false })]);
    expectThat(all !== null, `${name}: not all were answered`);
    const counts = Map.groupBy(all, (reply) => reply?.status ?? 'closed');
    const statuses = [...counts].map(([status, { length }]) => `${length} x ${status}`).join(', ');
    const [livezMs, readMs] = await probe.end();
    return { name, livezMs, readMs, blockedMs: Math.round(await longestTurn(service)), statuses };
  } finally {
    yieldProcessors(false);
    await probe.end();
    for (const request of held) request.close();
  }
}

const lineOf = ({ name, livezMs, readMs, blockedMs: blocked, statuses }: Outcome): string =>
  `${name}: /livez ${livezMs} ms, a read ${readMs} ms, loop blocked ${blocked} ms (${statuses})`;

/** Nothing of the floods is left: as many large bodies as one caller may send at once are all read. */
async function wholeAgain({ flooder }: Cast): Promise<void> {
  const [body, headers] = [filled({}), { authorization: `Bearer ${flooder.token}` }];
  const all = await Promise.all(
    Array.from({ length: 32 }, () => HeldRequest.open(flooder.url, { path: BATCH_PATH, headers, body, keep: 0 })),
  );
  const replies = await Promise.all(all.map(({ reply }) => reply));
  for (const request of all) request.close();
  expectThat(
    replies.every((reply) => reply?.status === 422),
    'the node is not whole again',
  );
}

/** A loop that is busy with requests for longer than the watchdog waits for a stuck one. */
async function busy(): Promise<void> {
  const slow = `--import=${join(import.meta.dirname, 'slow-requests.mjs')}`;
  const service = await Service.start({ env: { NODE_OPTIONS: slow } });
  try {
    const { hostname, port } = new URL(service.url);
    const sockets = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    for (const socket of sockets)
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: 1\r\nConnection: close\r\n\r\n');
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    expectThat(service.child.signalCode === null && service.child.exitCode === null, 'a busy node was killed');
  } finally {
    await service.stop();
  }
}

export const check: Check = {
  id: 'C65',
  title: '300 bodies of 1 MiB at once leave the node responsive',
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    const outcomes: Outcome[] = [];
    await repeat(times, () =>
      withInstallation(
        async (installation) => {
          const seed = await installation.seed();
          const { admin, project } = await seed.project();
          const victim = await seed.caller(admin, { project: project.id });
          const cast = { flooder: admin, victim, projectId: project.id };
          for (const it of floods(project.id)) outcomes.push(await flood(installation.service, cast, it));
          await wholeAgain(cast);
          expectThat(installation.service.child.exitCode === null, 'the node has ended');
        },
        { NODE_OPTIONS: LOOP_TIME },
      ),
    );
    await busy();
    for (const outcome of outcomes) console.log(`  ${lineOf(outcome)}`);
    const late = outcomes.filter(
      ({ livezMs, readMs, blockedMs: blocked }) =>
        Math.max(livezMs, readMs) > ANSWERED_WITHIN_MS || blocked > BLOCKED_AT_MOST_MS,
    );
    expectThat(late.length === 0, `too slow:\n${late.map(lineOf).join('\n')}`);
    const worst = (of: (outcome: Outcome) => number): number => Math.max(...outcomes.map(of));
    return `${outcomes.length} floods: /livez at most ${worst(({ livezMs }) => livezMs)} ms, a read ${worst(({ readMs }) => readMs)} ms, loop blocked ${worst((each) => each.blockedMs)} ms; a node busy for 16 s lives`;
  },
};
