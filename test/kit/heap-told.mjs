// Loaded into a service by `NODE_OPTIONS=--import=...`: SIGUSR2 collects garbage and prints what is left in the heap, in bytes. The
// first time all garbage is collected, and after that only what is young, as V8 does between two full collections.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let type = 'major';
  process.on('SIGUSR2', () => {
    // Twice: what survives the first time is promoted by the second.
    collect({ type });
    collect({ type });
    type = 'minor';
    process.stdout.write(`heap left ${process.memoryUsage().heapUsed} bytes\n`);
  });
}
