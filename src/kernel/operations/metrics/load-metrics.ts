import { Counter, Gauge, type Registry } from 'prom-client';
import type { Load } from '../../load/load.js';

/** What responses take of memory, which heavy reads run and wait, and what is refused because of both. */
export function measureLoad(registry: Registry, load: Load): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_response_memory_bytes',
    help: 'Memory reserved for responses being built or sent, at most RESPONSE_MEMORY_MIB.',
    registers,
    collect() {
      this.set(load.figures.bytes);
    },
  });
  new Gauge({
    name: 'strongroom_heavy_reads',
    help: 'Heavy reads by state: running or queued.',
    labelNames: ['state'],
    registers,
    collect() {
      const { running, waiting } = load.figures.heavyReads;
      this.set({ state: 'running' }, running);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  new Counter({
    name: 'strongroom_load_refusals_total',
    help: 'Requests refused because their response is too large (size), memory is exhausted (memory), or the queue of heavy reads is full (queue).',
    labelNames: ['reason'],
    registers,
    collect() {
      const { tooLarge, overloaded, heavyReads } = load.figures;
      this.reset();
      this.inc({ reason: 'size' }, tooLarge);
      this.inc({ reason: 'memory' }, overloaded);
      this.inc({ reason: 'queue' }, heavyReads.refused);
    },
  });
}
