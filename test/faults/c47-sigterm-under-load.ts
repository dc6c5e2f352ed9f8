import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { Service } from '../kit/service.ts';
import { BalancedLoad } from './balanced-load.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const PER_SECOND = 200;
const EXIT_WITHIN_MS = 30_000;
const KILLED_WITHIN_MS = 200_000;
const BLOCKED_TIMES = 5;
/** Longer than the loop may stand still. */
const PAUSE_MS = 11_000;
const PATH = '/api/v1/projects';
const BLOCKING = `--import=${join(import.meta.dirname, 'block-on-signal.mjs')}`;

const secondsOf = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

/** Stops one of two nodes under load, with what it does when nobody says otherwise. */
async function sigterm(env: Record<string, string>, staying: Service, token: string) {
  const leaving = await Service.start({ env });
  const load = new BalancedLoad([leaving.url, staying.url], { path: PATH, token }, PER_SECOND);
  try {
    await delay(1_000);
    load.markLeaving(leaving.url);
    const begun = performance.now();
    leaving.signal('SIGTERM');
    const code = await leaving.exit(EXIT_WITHIN_MS);
    const exitMs = performance.now() - begun;
    expectThat(code === 0, `it ended with ${code}: ${leaving.output}`);
    await delay(500);
    const outcome = await load.end();
    expectThat(outcome.inDrain > 0, 'nothing was asked of the node that was leaving');
    expectThat(
      outcome.failures.length === 0,
      `${outcome.failures.length} of ${outcome.answered} requests failed: ${[...new Set(outcome.failures)].join(', ')}`,
    );
    return { ...outcome, exitMs };
  } finally {
    await leaving.stop();
  }
}

/** Blocks the loop of a service on purpose, and answers after how long it was gone. */
async function blocked(env: Record<string, string>): Promise<number> {
  const service = await Service.start({ env: { ...env, NODE_OPTIONS: BLOCKING } });
  const begun = performance.now();
  service.signal('SIGUSR2');
  await service.exit(KILLED_WITHIN_MS);
  const goneMs = performance.now() - begun;
  expectThat(
    service.child.signalCode === 'SIGKILL',
    `it ended with ${service.child.signalCode ?? service.child.exitCode}`,
  );
  expectThat(service.output.includes('event loop blocked'), `it did not say why: ${service.output}`);
  await service.dispose();
  return goneMs;
}

/** A process that was stopped as a whole goes on where it was: a paused container, a laptop that slept. */
async function paused(service: Service): Promise<void> {
  service.signal('SIGSTOP');
  await delay(PAUSE_MS);
  service.signal('SIGCONT');
  await delay(1_000);
  mustSucceed(await new Caller(service.url, null).get('/readyz'));
}

export const check: Check = {
  id: 'C47',
  title: 'SIGTERM under load, and a loop that stands still',
  fullTimes: 20,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const env = {
        DATABASE_URL: await installation.freshDatabase('leaving'),
        ROOT_KEY: randomBytes(32).toString('base64'),
        DRAIN_SECONDS: '',
      };
      const staying = await Service.start({ env });
      try {
        const token = await staying.firstToken();
        let answered = 0;
        let slowestMs = 0;
        let goneMs = 0;
        await repeat(times, async () => {
          const outcome = await sigterm(env, staying, token);
          answered += outcome.answered;
          slowestMs = Math.max(slowestMs, outcome.exitMs);
        });
        await Promise.all([
          repeat(Math.min(times, BLOCKED_TIMES), async () => {
            goneMs = Math.max(goneMs, await blocked(env));
          }),
          paused(staying),
        ]);
        return `${answered} requests, 0 failed, exit 0 after ${secondsOf(slowestMs)} at most; blocked: killed after ${secondsOf(goneMs)} at most, paused ${secondsOf(PAUSE_MS)}: goes on`;
      } finally {
        await staying.stop();
      }
    }),
};
