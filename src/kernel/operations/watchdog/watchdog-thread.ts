// The thread of `startWatchdog`. It loads nothing of the service: it must work when the service does not.
import { write } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { LongTurn, processorMs, type StoppedThread, stopMainThread } from './main-thread.js';

const TICK_MS = 1_000;
const LIMIT_MS = 10_000;
const [STANDARD_OUTPUT, STANDARD_ERROR] = [1, 2];
/** As long as a machine that is busy needs, and no longer: nobody is served meanwhile. */
const LOOK_WITHIN_MS = 3_000;
/** A full pipe that nobody reads must not save the process. */
const WRITE_WITHIN_MS = 500;
const EXIT_WITHIN_MS = 500;

const WORDS = `strongroom: ended itself. Its event loop used ${LIMIT_MS / 1_000} seconds of the processor without a turn, so that nobody got a response; the line "event loop blocked" says what ran. What was acknowledged is stored. Start it again. A supervisor does that by itself: docker compose, Kubernetes, or systemd with Restart=on-failure; see "Watchdog" in src/docs/operating.md.
`;

const beats = workerData as Int32Array;
const longTurn = new LongTurn(LIMIT_MS);

const ticking = setInterval(() => {
  if (!longTurn.isTooLong(Atomics.load(beats, 0), processorMs())) return;
  clearInterval(ticking);
  void end();
}, TICK_MS);

async function end(): Promise<void> {
  const stopped = await Promise.race([stopMainThread().catch(() => null), delay(LOOK_WITHIN_MS, null)]);
  const line = { level: 60, time: new Date().toISOString(), processorMs: LIMIT_MS, ...named(stopped) };
  const printed = Promise.all([
    print(STANDARD_OUTPUT, `${JSON.stringify({ ...line, msg: 'event loop blocked' })}\n`),
    print(STANDARD_ERROR, WORDS),
  ]);
  await Promise.race([printed, delay(WRITE_WITHIN_MS)]);
  process.kill(process.pid, 'SIGKILL');
  await delay(EXIT_WITHIN_MS);
  stopped?.exit();
}

const named = (stopped: StoppedThread | null): object =>
  stopped === null ? { at: null } : { ...stopped.sample.running, at: stopped.sample.at };

/** Not by `console` or `process.stdout`: those of a worker thread go through the blocked event loop. */
const print = (to: number, text: string): Promise<void> => new Promise((resolve) => write(to, text, () => resolve()));
