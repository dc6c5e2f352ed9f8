import { randomBytes } from 'node:crypto';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from '../kit/caller.ts';
import { hasPatroni, PatroniCluster } from '../kit/outside/patroni.ts';
import { PgBouncer } from '../kit/outside/pgbouncer.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { SteadyWriters, untilHealthy, untilWhole } from './steady-writers.ts';

/** Of both ways to the one database. */
const ROOT_KEY = randomBytes(32).toString('base64');
const TOKEN = mintToken();
const WRITERS = 8;
const BEFORE_KILL = 200;
const HEALTHY_WITHIN_MS = 30_000;

/** Kills the leader under writers as often as asked, and reads everything that was acknowledged. */
async function tryThrough(cluster: PatroniCluster, databaseUrl: string, times: number): Promise<string> {
  const service = await Service.start({
    env: { DATABASE_URL: databaseUrl, ROOT_KEY, BOOTSTRAP_TOKEN: TOKEN },
  });
  try {
    const admin = new Caller(service.url, TOKEN);
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
    const cluster = await PatroniCluster.start();
    const pooler = await PgBouncer.start(cluster.url);
    try {
      return [
        `HAProxy: ${await tryThrough(cluster, cluster.url, times)}`,
        `PgBouncer: ${await tryThrough(cluster, pooler.url, times)}`,
      ].join('; ');
    } finally {
      await pooler.stop();
      await cluster.stop();
    }
  },
};
