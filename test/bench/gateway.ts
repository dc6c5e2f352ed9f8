import { assemble } from '../../src/app.js';
import { CostModel } from '../../src/kernel/graphql/gate/cost.js';
import { Gate } from '../../src/kernel/graphql/gate/gate.js';
import { DEFAULT_LIMITS } from '../../src/kernel/graphql/gate/limits.js';
import { PersistedDocuments } from '../../src/kernel/graphql/gate/persisted-documents.js';
import { createLog } from '../../src/kernel/log.js';
import type { Caller } from '../kit/caller.ts';
import { BOMBS, type Bomb } from './bombs.ts';
import type { Ground } from './ground.ts';
import { LOADS } from './loads.ts';
import { measure, metric } from './measure.ts';

const ROUNDS = 25;
const MIB = 1024 * 1024;

/** The worst that one bomb did in all its rounds. */
interface Blast {
  readonly name: string;
  readonly answer: string;
  readonly isCoded: boolean;
  /** Milliseconds. */
  readonly median: number;
  readonly worst: number;
  /** The longest that the event loop of the service stood still, in milliseconds. */
  readonly lag: number;
}

async function blast({ url, admin }: { url: string; admin: Caller }, { name, body }: Bomb): Promise<Blast> {
  // Reading the lag begins it anew.
  await metric(url, 'nodejs_eventloop_lag_max_seconds');
  const times: number[] = [];
  let [answer, isCoded] = ['', true];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const reply = await admin.request({ method: 'POST', path: '/graphql', rawBody: body });
    times.push(performance.now() - start);
    const code = reply.body?.errors?.[0]?.extensions?.code ?? reply.body?.code;
    answer = `${reply.status} ${code}`;
    isCoded &&= code !== undefined && reply.status >= 400 && reply.status < 500;
  }
  const lag = (await metric(url, 'nodejs_eventloop_lag_max_seconds')) * 1_000;
  times.sort((a, b) => a - b);
  return { name, answer, isCoded, lag, median: times[ROUNDS >> 1] as number, worst: times[ROUNDS - 1] as number };
}

/** Sends each bomb 25 times, one after the other, and prints what it did. @returns how many got anything but a coded 4xx */
export async function runBombs({ service: { url }, admin }: Ground): Promise<number> {
  const resident = async (): Promise<number> => (await metric(url, 'process_resident_memory_bytes')) / MIB;
  for (const bomb of BOMBS) await blast({ url, admin }, { ...bomb });
  const before = await resident();
  console.log(
    `${'bomb'.padEnd(54)}${'median ms'.padStart(10)}${'worst ms'.padStart(10)}${'lag ms'.padStart(8)}  answer`,
  );
  const blasts: Blast[] = [];
  for (const bomb of BOMBS) {
    const one = await blast({ url, admin }, bomb);
    blasts.push(one);
    const numbers = [
      one.median.toFixed(1).padStart(10),
      one.worst.toFixed(1).padStart(10),
      one.lag.toFixed(0).padStart(8),
    ];
    console.log(`${one.name.padEnd(54)}${numbers.join('')}  ${one.answer}${one.isCoded ? '' : '  NOT REFUSED'}`);
  }
  const worst = (of: (one: Blast) => number): string => Math.max(...blasts.map(of)).toFixed(0);
  const growth = (await resident()) - before;
  console.log(
    `\n${BOMBS.length} bombs x ${ROUNDS}: slowest ${worst((one) => one.worst)} ms (wanted < 100), lag ${worst((one) => one.lag)} ms (wanted < 50), memory ${growth.toFixed(0)} MiB more (wanted < 64)`,
  );
  return blasts.filter(({ isCoded }) => !isCoded).length;
}

const SMALL = 'GraphQL get project';
const REPEATS = 20_000;

/** Prints which share of a small request is spent at the gate: a request as the service answers them, ten clients at once. */
export async function runGate(ground: Ground, seconds: number): Promise<void> {
  const load = LOADS.find(({ name }) => name === SMALL);
  if (load === undefined) throw new Error(`there is no load ${SMALL}`);
  const body = JSON.parse(String(load.request(ground).body));
  const gate = makeGate();
  const each = async (repeats: number): Promise<number> => {
    const start = performance.now();
    for (let round = 0; round < repeats; round += 1) await gate.admit(body, true);
    return (performance.now() - start) / repeats;
  };
  await each(REPEATS);
  const [atGate, { perSecond }] = [await each(REPEATS), await measure(ground, load, seconds)];
  const request = 1_000 / perSecond;
  console.log(
    `\ngate: ${(atGate * 1_000).toFixed(1)} µs of ${(request * 1_000).toFixed(0)} µs for "${SMALL}": ${((100 * atGate) / request).toFixed(2)} % (wanted < 5)`,
  );
}

/** A gate as the service has it. */
function makeGate(): Gate {
  const { schema } = assemble();
  const rules = {
    model: new CostModel(schema),
    limits: DEFAULT_LIMITS,
    trustedLimits: DEFAULT_LIMITS,
    isPersistedOnly: false,
  };
  return new Gate(
    rules,
    new PersistedDocuments('/nonexistent', { schema, ...rules, introspection: true }, createLog('silent')),
  );
}
