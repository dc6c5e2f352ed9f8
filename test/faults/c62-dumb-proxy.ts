import { randomBytes } from 'node:crypto';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from '../kit/caller.ts';
import { Relay } from '../kit/relay.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';
import { SteadyWriters, untilHealthy, untilWhole } from './steady-writers.ts';

const WRITERS = 40;
const HEALTHY_WITHIN_MS = 5_000;
const ANSWERED_WITHIN_MS = 10_000;

export const check: Check = {
  id: 'C62',
  title: 'a proxy before the database goes dumb',
  fullTimes: 10,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const relay = await Relay.start(await installation.freshDatabase('behind_relay'));
      const token = mintToken();
      const service = await Service.start({
        env: { DATABASE_URL: relay.url, ROOT_KEY: randomBytes(32).toString('base64'), BOOTSTRAP_TOKEN: token },
      });
      try {
        const admin = new Caller(service.url, token);
        const totals = { acknowledged: 0, refused: 0, slowestMs: 0, healthyMs: 0 };
        await repeat(times, async () => {
          const seed = new Seed(admin);
          const [project, other] = [await seed.projectOf(admin), await seed.project()];
          const writers = new SteadyWriters(admin, project, { count: WRITERS, prefix: 'KEY' });
          await writers.more(2 * WRITERS);
          relay.goDumb();
          const healthyMs = await untilHealthy(other);
          await writers.more(WRITERS);
          await writers.end();
          expectThat(healthyMs <= HEALTHY_WITHIN_MS, `healthy after ${Math.round(healthyMs)} ms`);
          expectThat(writers.slowestMs <= ANSWERED_WITHIN_MS, `an answer after ${Math.round(writers.slowestMs)} ms`);
          await untilWhole(admin);
          await writers.judge();
          relay.endDumb();
          totals.acknowledged += writers.acknowledged.size;
          totals.refused += writers.refused;
          totals.slowestMs = Math.max(totals.slowestMs, writers.slowestMs);
          totals.healthyMs = Math.max(totals.healthyMs, healthyMs);
        });
        expectThat((await service.stop()) === 0, 'the service did not stop with 0');
        return `${totals.acknowledged} acknowledged and 0 lost, ${totals.refused} answers of 503 or 504 and 0 of 500, slowest answer ${Math.round(totals.slowestMs)} ms, slowest healthy ${Math.round(totals.healthyMs)} ms, every place back`;
      } finally {
        await service.kill();
        await service.dispose();
        await relay.stop();
      }
    }),
};
