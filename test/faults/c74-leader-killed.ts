import { randomBytes } from 'node:crypto';
import { Caller } from '../kit/caller.ts';
import { hasPatroni, PatroniCluster } from '../kit/outside/patroni.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { SteadyWriters, untilHealthy, untilWhole } from './steady-writers.ts';

const WRITERS = 8;
const BEFORE_KILL = 200;
const HEALTHY_WITHIN_MS = 30_000;

/** Kills the leader under writers as often as asked, and reads everything that was acknowledged. */
async function tryThrough(cluster: PatroniCluster, isPooled: boolean, times: number): Promise<string> {
  const service = await Service.start({
    env: { DATABASE_URL: cluster.url({ isPooled }), ROOT_KEY: randomBytes(32).toString('base64') },
  });
  try {
    const admin = new Caller(service.url, await service.firstToken());
    const seed = new Seed(admin);
    let slowestMs = 0;
    let acknowledged = 0;
    await repeat(times, async (index) => {
      const [written, probed] = [await seed.project(), await seed.project()];
      const writers = new SteadyWriters(written.admin, written.project, { count: WRITERS, prefix: `KEY_${index}` });
      await writers.more(BEFORE_KILL);
      const former = await cluster.killLeader();
      await cluster.untilPromoted(former);
      const tookMs = await untilHealthy(probed);
      expectWithin(HEALTHY_WITHIN_MS, tookMs, 'the first write after the promotion');
      slowestMs = Math.max(slowestMs, tookMs);
      await writers.more(BEFORE_KILL);
      await writers.end();
      await writers.judge();
      acknowledged += writers.acknowledged.size;
      await untilWhole(admin);
      await cluster.bringBack(former);
    });
    expectThat((await service.stop()) === 0, `the service did not stop:\n${service.output}`);
    return `${acknowledged} acknowledged writes, 0 lost, slowest write after a promotion ${(slowestMs / 1_000).toFixed(1)} s`;
  } finally {
    await service.kill();
    await service.dispose();
  }
}

export const check: Check = {
  id: 'C74',
  title: 'the leader of a Patroni cluster killed, behind HAProxy and behind PgBouncer',
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    if (!hasPatroni()) return 'skipped: it takes root, Patroni, etcd, HAProxy and PgBouncer';
    const found: string[] = [];
    for (const isPooled of [false, true]) {
      const cluster = await PatroniCluster.start();
      try {
        found.push(`${isPooled ? 'PgBouncer' : 'HAProxy'}: ${await tryThrough(cluster, isPooled, times)}`);
      } finally {
        await cluster.stop();
      }
    }
    return found.join('; ');
  },
};
