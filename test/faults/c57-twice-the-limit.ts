import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, Reply } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type AtTwoNodes, withTwoNodes } from './two-nodes.ts';

/** As without a setting. */
const READS = 600;
const WINDOW_MS = 60_000;
const PAUSE_MS = WINDOW_MS / (2 * READS);
/** The other tenant asks less often, and never too often. */
const OTHERS_PAUSE_MS = 125;
const QUIET_MS = 15_000;
const PATH = '/api/v1/projects';

interface Answer {
  readonly reply: Reply;
  readonly milliseconds: number;
}

/** Requests at a pace, whether or not those before are answered. */
async function ask(pauseMs: number, forMs: number, callerOf: (index: number) => Caller): Promise<Answer[]> {
  const answers: Promise<Answer>[] = [];
  const begun = performance.now();
  for (let index = 0; index * pauseMs < forMs; index += 1) {
    await delay(Math.max(0, begun + index * pauseMs - performance.now()));
    const sent = performance.now();
    answers.push(
      callerOf(index)
        .get(PATH)
        .then((reply) => ({ reply, milliseconds: performance.now() - sent })),
    );
  }
  return Promise.all(answers);
}

const p99 = (answers: readonly Answer[]): number => {
  const sorted = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
};

function judge(answers: readonly Answer[]): number {
  for (const { reply } of answers) {
    expectThat([200, 429].includes(reply.status), `a request was answered ${reply.status}: ${reply.text}`);
    const { headers } = reply;
    const { 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-policy': policy } = headers;
    const isTold = limit === String(READS) && policy === `"reads";q=${READS};w=60` && /^\d+$/.test(remaining ?? '');
    expectThat(isTold, `an answer told of limits: ${JSON.stringify(headers)}`);
    const wait = headers['retry-after'];
    const isWaitRight = reply.status === 429 ? /^([1-9]|[1-5]\d|60)$/.test(wait ?? '') : wait === undefined;
    expectThat(isWaitRight, `an answer of ${reply.status} said Retry-After: ${wait}`);
  }
  const accepted = answers.filter(({ reply }) => reply.status === 200).length;
  expectThat(
    accepted >= 0.9 * READS && accepted <= 1.2 * READS,
    `${accepted} of ${answers.length} requests passed a limit of ${READS}`,
  );
  return accepted;
}

/** How requests find their node. */
const BALANCERS: readonly ((index: number) => 0 | 1)[] = [
  (index) => (index % 2 === 0 ? 0 : 1),
  (index) => (index % 10 === 9 ? 1 : 0),
  // The other node once the first has given all.
  (index) => (index < READS ? 0 : 1),
];

async function flood(admin: AtTwoNodes, round: number): Promise<string> {
  const seed = new Seed(admin[0]);
  const [greedy, other] = [(await seed.organization()).admin, (await seed.organization()).admin];
  const at = (caller: Caller, index: number): Caller => caller.at(admin[index % 2 === 0 ? 0 : 1].url);
  const quiet = await ask(OTHERS_PAUSE_MS, QUIET_MS, (index) => at(other, index));
  const nodeOf = BALANCERS[round % BALANCERS.length] as (index: number) => 0 | 1;
  const [answers, others] = await Promise.all([
    ask(PAUSE_MS, WINDOW_MS, (index) => greedy.at(admin[nodeOf(index)].url)),
    ask(OTHERS_PAUSE_MS, WINDOW_MS, (index) => at(other, index)),
  ]);
  const accepted = judge(answers);
  const refused = others.filter(({ reply }) => reply.status !== 200).length;
  expectThat(refused === 0, `${refused} requests of another tenant were refused`);
  const ratio = p99(others) / p99(quiet);
  return `${accepted} accepted of ${answers.length}, others' p99 ${p99(others).toFixed(1)} ms (x ${ratio.toFixed(2)})`;
}

export const check: Check = {
  id: 'C57',
  title: 'for a minute at twice the limit on two nodes, 90 to 120 % of the limit pass',
  fullTimes: 3,
  needsQuiet: true,
  run: (times) =>
    withTwoNodes(
      async (admin) => {
        const told: string[] = [];
        await repeat(times, async (round) => {
          told.push(await flood(admin, round));
        });
        return told.join('; ');
      },
      [{ RATE_LIMIT: 'on' }, { RATE_LIMIT: 'on' }],
    ),
};
