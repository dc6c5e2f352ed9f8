import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from '../kit/caller.ts';
import { LOOP_TIME, longestTurn } from '../kit/loop-time.ts';
import type { Seed } from '../kit/seed.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';
import { untilHealthy } from './steady-writers.ts';

const LOCKED_MS = 10_000;
const ANSWERED_WITHIN_MS = 2_500;
const LONGEST_TURN_MS = 50;
const HEALTHY_WITHIN_MS = 1_000;
/** Of each kind. */
const CALLERS = 4;

interface Answers {
  count: number;
  slowestMs: number;
  readonly statuses: Set<number>;
}

interface Counts {
  readonly own: Answers;
  readonly behind: Answers;
  healthyMs: number;
}

type Seeded = Awaited<ReturnType<Seed['project']>>;

const at = ({ project }: Seeded): Record<string, string> => ({ projectId: project.id, environment: 'dev' });

const read = (seeded: Seeded, number: number): Promise<Reply> =>
  seeded.admin.get(`/api/v4/secrets?${new URLSearchParams(at(seeded))}&limit=${1 + (number % 1_000)}`);

const write = (seeded: Seeded, key: string): Promise<Reply> =>
  seeded.admin.post(`/api/v4/secrets/${key}`, { ...at(seeded), secretValue: 'one' });

/** Locks the audit table under callers that read values and change them, and releases it. */
async function tryOnce(installation: Installation, counts: Counts): Promise<void> {
  const seed = await installation.seed();
  const [shared, other] = [await seed.project(), await seed.project()];
  const alone = await Promise.all(Array.from({ length: CALLERS }, () => seed.project()));
  expectThat((await write(shared, 'KEY')).status === 200, 'no secret');
  let isLocked = true;
  const ask = async (answers: Answers, send: (number: number) => Promise<Reply>): Promise<void> => {
    for (let number = 0; isLocked; number += 1) {
      const since = performance.now();
      const { status } = await send(number);
      // One that was asked before the release may be answered after it.
      if (!isLocked) return;
      answers.count += 1;
      answers.slowestMs = Math.max(answers.slowestMs, performance.now() - since);
      answers.statuses.add(status);
    }
  };
  await withClient(await installation.databaseUrl(), async (client) => {
    await client.query('begin');
    await client.query('lock table audit_record in access exclusive mode');
    const work = alone.flatMap((seeded, index) => [
      ask(counts.own, (number) => read(shared, index + number)),
      ask(counts.own, (number) => write(seeded, `KEY_${number}`)),
      ask(counts.behind, (number) => write(shared, `KEY_${index}_${number}`)),
    ]);
    await delay(LOCKED_MS);
    isLocked = false;
    await client.query('rollback');
    counts.healthyMs = Math.max(counts.healthyMs, await untilHealthy(other));
    await Promise.all(work);
  });
  expectThat(
    (await shared.admin.get(`/api/v4/secrets/KEY?${new URLSearchParams(at(shared))}`)).status === 200,
    'it is not whole',
  );
}

export const check: Check = {
  id: 'C19',
  title: 'the audit table is locked for ten seconds',
  fullTimes: 10,
  needsQuiet: true,
  run: (times) =>
    withInstallation(
      async (installation) => {
        const none = (): Answers => ({ count: 0, slowestMs: 0, statuses: new Set() });
        const counts: Counts = { own: none(), behind: none(), healthyMs: 0 };
        await longestTurn(installation.service);
        await repeat(times, () => tryOnce(installation, counts));
        const turn = await longestTurn(installation.service);
        const { own, behind, healthyMs } = counts;
        const statuses = [[...own.statuses], [...behind.statuses].sort()];
        expectThat(
          statuses.every((each) => String(each) === '503'),
          `the answers are ${statuses.join(' and ')}`,
        );
        expectWithin(ANSWERED_WITHIN_MS, own.slowestMs, 'an answer');
        expectWithin(ANSWERED_WITHIN_MS, behind.slowestMs, 'an answer to who waits behind others');
        expectWithin(LONGEST_TURN_MS, turn, 'a turn of the event loop');
        expectWithin(HEALTHY_WITHIN_MS, healthyMs, 'health after the release');
        return `${own.count} answers of 503, slowest ${Math.round(own.slowestMs)} ms; ${behind.count} of ${statuses[1]?.join(' and ')} in one folder, slowest ${Math.round(behind.slowestMs)} ms; longest turn ${turn} ms, healthy after ${Math.round(healthyMs)} ms`;
      },
      { NODE_OPTIONS: LOOP_TIME },
    ),
};
