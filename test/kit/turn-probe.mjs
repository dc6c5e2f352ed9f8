// Loaded into a service by `NODE_OPTIONS=--import=...`: SIGUSR2 prints, and begins anew, the longest time that one turn of the event
// loop took of the processor. Unlike the lag of the loop it does not grow with what else the machine does.
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;

const used = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

if (isMainThread) {
  let last = used();
  let longest = 0;
  setInterval(() => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  }, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    process.stdout.write(`longest turn ${longest.toFixed(1)} ms\n`);
    longest = 0;
  });
}
