import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Load } from '../../load/load.js';
import type { RateLimits } from '../limits/rate-limits.js';

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

/** What rate limits refuse, and how much they remember. */
export function measureRateLimits(registry: Registry, { refusals, buckets }: RateLimits): void {
  new Counter({
    name: 'strongroom_rate_limited_total',
    help: 'Requests refused by a rate limit. They are not logged or audited.',
    labelNames: ['limit'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [limit, count] of Object.entries(refusals)) this.inc({ limit }, count);
    },
  });
  new Gauge({
    name: 'strongroom_rate_limit_buckets',
    help: 'Tokens, clients and addresses whose requests this node counts, once for each limit.',
    registers: [registry],
    collect() {
      this.set(buckets?.size ?? 0);
    },
  });
}

/** Event streams of this node. */
export interface StreamFigures {
  readonly open: number;
  readonly refused: number;
  /** By what ended them. */
  readonly ended: Readonly<Record<string, number>>;
}

/** Open event streams, how streams ended, and how many were refused. */
export function measureStreams(registry: Registry, figures: () => StreamFigures): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_event_streams',
    help: 'Open event streams.',
    registers,
    collect() {
      this.set(figures().open);
    },
  });
  new Counter({
    name: 'strongroom_event_streams_ended_total',
    help: 'Event streams that ended, by cause: the client closed it (client), an error or an invalid token (source), a shutdown (drain), or a client that did not read (stalled).',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset();
      for (const [cause, count] of Object.entries(figures().ended)) this.inc({ cause }, count);
    },
  });
  new Counter({
    name: 'strongroom_event_streams_refused_total',
    help: 'Event streams refused because of the limits in EVENT_STREAMS.',
    registers,
    collect() {
      this.reset();
      this.inc(figures().refused);
    },
  });
}

/** How often the lag of the event loop is measured: each time wakes the process, also one at rest. */
const LAG_EVERY_MS = 100;

/** The process: memory, descriptors, lag of the event loop, its version, and whether it is leaving. */
export function measureProcess(
  registry: Registry,
  { version, lifecycle }: { readonly version: string; readonly lifecycle: { readonly isDraining: boolean } },
): void {
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS });
  new Gauge({
    name: 'strongroom_build_info',
    help: 'Always 1. The labels have the version.',
    labelNames: ['version', 'node_version'],
    registers,
  }).set({ version, node_version: process.version }, 1);
  new Gauge({
    name: 'strongroom_draining',
    help: '1 while the node shuts down.',
    registers,
    collect() {
      this.set(lifecycle.isDraining ? 1 : 0);
    },
  });
}
