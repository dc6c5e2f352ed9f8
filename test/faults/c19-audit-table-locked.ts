import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from '../kit/caller.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';
import { untilHealthy } from './steady-writers.ts';

const LOCKED_MS = 10_000;
const ANSWERED_WITHIN_MS = 2_500;
const LONGEST_TURN_MS = 50;
const HEALTHY_WITHIN_MS = 1_000;
const CALLERS = 10;
const LOOP_TIME = `--import=${join(import.meta.dirname, 'loop-time.mjs')}`;

interface Counts {
  answered: number;
  slowestMs: number;
  healthyMs: number;
}

/** Locks the audit table under callers that read values and change them, and releases it. */
async function tryOnce(installation: Installation, counts: Counts): Promise<void> {
  const seed = await installation.seed();
  const [{ admin, project }, other] = [await seed.project(), await seed.project()];
  const place = { projectId: project.id, environment: 'dev' };
  expectThat((await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'one' })).status === 200, 'no secret');
  let isLocked = true;
  await withClient(await installation.databaseUrl(), async (client) => {
    await client.query('begin');
    await client.query('lock table audit_record in access exclusive mode');
    const work = Array.from({ length: CALLERS }, async (_, index) => {
      for (let number = 0; isLocked; number += 1) {
        const since = performance.now();
        const reply: Reply =
          index % 2 === 0
            ? await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}&limit=${1 + ((index + number) % 1_000)}`)
            : await admin.post(`/api/v4/secrets/KEY_${index}_${number}`, { ...place, secretValue: 'one' });
        if (!isLocked) return;
        counts.answered += 1;
        counts.slowestMs = Math.max(counts.slowestMs, performance.now() - since);
        expectThat(reply.status === 503, `while it is locked a request is answered ${reply.status}: ${reply.text}`);
      }
    });
    await delay(LOCKED_MS);
    isLocked = false;
    await client.query('rollback');
    counts.healthyMs = Math.max(counts.healthyMs, await untilHealthy(other));
    await Promise.all(work);
  });
  expectThat((await admin.get(`/api/v4/secrets/KEY?${new URLSearchParams(place)}`)).status === 200, 'it is not whole');
}

/** The longest turn of the event loop since it was asked last, in milliseconds of the processor. */
async function longestTurn({ service }: Installation): Promise<number> {
  const before = service.output.length;
  service.signal('SIGUSR2');
  const told = await until(
    'its longest turn',
    5_000,
    () => /longest turn ([\d.]+) ms/.exec(service.output.slice(before))?.[1],
  );
  return Number(told);
}

export const check: Check = {
  id: 'C19',
  title: 'the audit table is locked for ten seconds',
  fullTimes: 10,
  needsQuiet: true,
  run: (times) =>
    withInstallation(
      async (installation) => {
        const counts: Counts = { answered: 0, slowestMs: 0, healthyMs: 0 };
        await longestTurn(installation);
        await repeat(times, () => tryOnce(installation, counts));
        const turn = await longestTurn(installation);
        expectThat(counts.answered > 0, 'nothing was asked');
        expectWithin(ANSWERED_WITHIN_MS, counts.slowestMs, 'an answer');
        expectWithin(LONGEST_TURN_MS, turn, 'a turn of the event loop');
        expectWithin(HEALTHY_WITHIN_MS, counts.healthyMs, 'health after the release');
        return `${counts.answered} answers of 503, slowest ${Math.round(counts.slowestMs)} ms, longest turn ${turn} ms, healthy after ${Math.round(counts.healthyMs)} ms`;
      },
      { NODE_OPTIONS: LOOP_TIME },
    ),
};
