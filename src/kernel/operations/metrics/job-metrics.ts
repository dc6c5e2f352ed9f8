import { Counter, Gauge, type Registry } from 'prom-client';
import type { Jobs } from '../../jobs/jobs.js';
import type { StoreProbe } from './store-probe.js';

/** Background work: what waits and what failed on all nodes, what this node has done, and whether Agenda's store is reached. */
export function measureJobs(registry: Registry, jobs: Jobs, probe: StoreProbe): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_jobs',
    help: 'Jobs of all nodes by kind and state: waiting, running, or permanently failed.',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const { name: kind, waitingCount, runningCount, failedCount } of (await probe.read()).jobs) {
        this.set({ kind, state: 'waiting' }, waitingCount);
        this.set({ kind, state: 'running' }, runningCount);
        this.set({ kind, state: 'failed' }, failedCount);
      }
    },
  });
  new Gauge({
    name: 'strongroom_job_overdue_seconds',
    help: 'Age of the most overdue job by kind, in seconds since it was due.',
    labelNames: ['kind'],
    registers,
    async collect() {
      this.reset();
      for (const { name: kind, overdueSeconds } of (await probe.read()).jobs) this.set({ kind }, overdueSeconds ?? 0);
    },
  });
  new Gauge({
    name: 'strongroom_jobs_running',
    help: 'Jobs running on this node.',
    registers,
    collect() {
      this.set(jobs.figures.running);
    },
  });
  new Counter({
    name: 'strongroom_job_attempts_total',
    help: 'Finished job attempts on this node by kind and outcome: done, failed, or lost to another node.',
    labelNames: ['kind', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { kind, outcome, count } of jobs.figures.attempts) this.inc({ kind, outcome }, count);
    },
  });
  new Gauge({
    name: 'strongroom_job_store_connected',
    help: '1 if the job store is connected. Without it, the node takes jobs from the database of the service.',
    labelNames: ['backend'],
    registers,
    collect() {
      const { backend, connected } = jobs.store;
      this.set({ backend }, connected ? 1 : 0);
    },
  });
}
