import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** How often the lag of the event loop is measured: each time wakes the process, also one at rest. */
const LAG_EVERY_MS = 50;

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
