// Throws 600 MiB of buffers away beside a heap that is in use, and prints how often all of the heap was collected meanwhile.
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { setUpHeap } from '../../src/kernel/load/heap.ts';

setUpHeap();
let collections = 0;
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries())
    collections += Number(detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
}).observe({ entryTypes: ['gc'] });
const used = Array.from({ length: 400_000 }, (_, index) => ({ index, name: `name ${index}` }));
await delay(200);
collections = 0;
for (let at = 0; at < 600; at += 1) {
  Buffer.allocUnsafeSlow(1024 * 1024);
  if (at % 20 === 0) await delay(1);
}
await delay(200);
process.stdout.write(`${collections} ${used.length}\n`);
