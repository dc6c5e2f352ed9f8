import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/**
 * Lets V8 look at all memory together when it decides whether to collect garbage, and do so when there is 70 % more than the last
 * collection left. By itself it marks the whole heap for each 32 MiB of buffers that are thrown away: bodies of 1 MiB that arrive
 * at a few hundred connections then keep both processors busy with that, and everybody waits. More than 70 % makes large responses
 * take more than they may; less costs writes.
 */
export function setUpHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString('--heap-growing-percent=70');
}

/**
 * Gives the memory back that a start took and does not need any more: code is read and the schema built once, and V8 would
 * keep a third of the service's memory for more of that kind. Blocks for about a tenth of a second, so only before there are
 * requests.
 */
export function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as Collect | undefined;
  setFlagsFromString('--no-expose-gc');
  collect?.({ type: 'major', flavor: 'last-resort' });
}
