import { type EventLoopUtilization, performance } from 'node:perf_hooks';
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

/** Share of the time for which the event loop was in use, up to which the service counts as idle. */
const IDLE = 0.02;
/** What is worth the pause. */
const WORTH_BYTES = 16 * 1024 * 1024;

/**
 * Gives memory back that is garbage. A start leaves code that was read and a schema that was built once, and V8 would keep a third of
 * the service's memory for more of that kind. Many requests leave twice as much as the service needs, as room for the next ones, and
 * V8 collects no more once there are none.
 */
export class IdleMemory {
  #used: EventLoopUtilization = performance.eventLoopUtilization();
  /** What the service takes without that garbage, as far as is known. */
  #restBytes = Number.POSITIVE_INFINITY;

  /** Blocks for about one to two tenths of a second. */
  release(): void {
    collectGarbage();
    this.#restBytes = process.memoryUsage.rss();
  }

  /**
   * Releases if hardly anything was done since the last call, and much was taken since the last release. Requests may be waiting all the
   * same, for a lock say, and wait as much longer.
   */
  releaseIfIdle(): void {
    const before = this.#used;
    this.#used = performance.eventLoopUtilization();
    if (performance.eventLoopUtilization(this.#used, before).utilization > IDLE) return;
    const bytes = process.memoryUsage.rss();
    if (bytes >= this.#restBytes + WORTH_BYTES) this.release();
    else this.#restBytes = Math.min(bytes, this.#restBytes);
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as Collect | undefined;
  setFlagsFromString('--no-expose-gc');
  collect?.({ type: 'major', flavor: 'last-resort' });
}
