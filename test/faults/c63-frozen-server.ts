import { setTimeout as delay } from 'node:timers/promises';
import { signalEmbeddedPostgres, suspendEmbeddedPostgres } from '../kit/processes.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';
import { SteadyWriters, untilHealthy, untilWhole } from './steady-writers.ts';

const WRITERS = 16;
const FROZEN_MS = 45_000;
/** Where it is tried once only. */
const FROZEN_BRIEFLY_MS = 15_000;
const HEALTHY_WITHIN_MS = 1_000;
const ANSWERED_WITHIN_MS = 15_000;

export const check: Check = {
  id: 'C63',
  title: 'a frozen server goes on',
  fullTimes: 5,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const totals = { refused: 0, slowestMs: 0, healthyMs: 0, acknowledged: 0 };
      await repeat(times, async () => {
        const admin = await installation.admin();
        const seed = await installation.seed();
        const [project, other] = [await seed.projectOf(admin), await seed.project()];
        const writers = new SteadyWriters(admin, project, { count: WRITERS, prefix: 'KEY' });
        await writers.more(WRITERS);
        await suspendEmbeddedPostgres(installation.dataDir);
        await delay(times === 1 ? FROZEN_BRIEFLY_MS : FROZEN_MS);
        await signalEmbeddedPostgres(installation.dataDir, 'SIGCONT');
        const healthyMs = await untilHealthy(other);
        await writers.more(WRITERS);
        await writers.end();
        expectThat(healthyMs <= HEALTHY_WITHIN_MS, `healthy after ${Math.round(healthyMs)} ms`);
        expectThat(writers.slowestMs <= ANSWERED_WITHIN_MS, `an answer after ${Math.round(writers.slowestMs)} ms`);
        expectThat(writers.refused > 0, 'no request was refused while the server was frozen');
        await untilWhole(admin);
        await writers.judge();
        totals.acknowledged += writers.acknowledged.size;
        totals.refused += writers.refused;
        totals.slowestMs = Math.max(totals.slowestMs, writers.slowestMs);
        totals.healthyMs = Math.max(totals.healthyMs, healthyMs);
      });
      expectThat((await installation.service.stop()) === 0, 'the service did not stop with 0');
      return `${totals.refused} answers of 503 or 504 and 0 of 500, slowest answer ${Math.round(totals.slowestMs)} ms, slowest healthy ${Math.round(totals.healthyMs)} ms, ${totals.acknowledged} acknowledged and 0 lost, every place back`;
    }),
};
