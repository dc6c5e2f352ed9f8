// Loaded into a service by `NODE_OPTIONS=--import=...`: blocks its event loop, with a loop that never ends when a response mentions
// BLOCK-THE-LOOP, and for 15 seconds in which it waits and uses no processor at SIGUSR2.
import { isMainThread } from 'node:worker_threads';

const WAIT_MS = 15_000;

if (isMainThread) {
  const { stringify } = JSON;
  JSON.stringify = function inResponse(...given) {
    const text = stringify(...given);
    while (text?.includes('BLOCK-THE-LOOP'));
    return text;
  };
  process.on('SIGUSR2', () => {
    process.stdout.write('waits\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    process.stdout.write('has waited\n');
  });
}
