// The thread of `startWatchdog`. It loads nothing of the service: it must work when the service does not.
import { write } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { MissedBeats } from './missed-beats.js';

const TICK_MS = 250;
const LIMIT_MS = 10_000;
const STANDARD_OUTPUT = 1;
/** A full pipe that nobody reads must not save the process. */
const WRITE_WITHIN_MS = 500;

const beats = workerData as Int32Array;
const missedBeats = new MissedBeats(LIMIT_MS / TICK_MS);

const ticking = setInterval(() => {
  if (!missedBeats.isTooLong(Atomics.load(beats, 0))) return;
  clearInterval(ticking);
  const line = { level: 60, time: new Date().toISOString(), blockedMs: LIMIT_MS, msg: 'event loop blocked' };
  setTimeout(kill, WRITE_WITHIN_MS);
  // Not by `console` or `process.stdout`: those of a worker thread go through the blocked event loop.
  write(STANDARD_OUTPUT, `${JSON.stringify(line)}\n`, kill);
}, TICK_MS);

function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
