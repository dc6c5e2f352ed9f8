// Throws 200 MiB of small objects away, and prints by how many MiB the process has become smaller: while it is busy, when it has
// been idle, and when it has been idle for longer without new garbage.
import { setTimeout as delay } from 'node:timers/promises';
import { IdleMemory, setUpHeap } from '../../src/kernel/load/heap.ts';

const MIB = 1024 * 1024;

setUpHeap();
// Before the event loop runs, its use is not counted.
await delay(1);
const memory = new IdleMemory();
memory.release();

/** Garbage that has lived for long enough to be in the old generation. */
function makeGarbage() {
  const objects = [];
  for (let at = 0; at < 2_500_000; at += 1) objects.push({ at, before: objects.at(-1)?.at, name: `n${at}` });
  return objects.length;
}

function freedBy(look) {
  const before = process.memoryUsage.rss();
  look();
  return Math.round((before - process.memoryUsage.rss()) / MIB);
}

makeGarbage();
const busy = freedBy(() => memory.releaseIfIdle());
let idle = 0;
// On a busy machine half a second can have too much of something else in it.
for (let times = 0; times < 20 && idle < 20; times += 1) {
  await delay(500);
  idle = freedBy(() => memory.releaseIfIdle());
}
await delay(500);
const again = freedBy(() => memory.releaseIfIdle());
process.stdout.write(`${busy} ${idle} ${again}\n`);
