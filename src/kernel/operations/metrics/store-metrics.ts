import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AuditSealer } from '../../audit/audit-sealer.js';
import type { Kernel } from '../../context.js';
import type { Jobs } from '../../jobs/jobs.js';
import type { EmbeddedFigures } from '../../postgres/embedded-postgres.js';
import type { ResponseCache } from '../responses/response-cache.js';
import { type KeyFigures, type StoredGauges, StoreProbe, type TrailSize } from './store-probe.js';

/** What the store and what stands before it are measured by. */
export interface MeasuredParts extends Kernel {
  readonly auditSealer: AuditSealer;
  readonly responseCache: ResponseCache;
  readonly jobs: Jobs;
  /** `null`: the database is not ours. */
  readonly embedded: (() => Promise<EmbeddedFigures>) | null;
  /** Of slices. */
  readonly gauges: readonly StoredGauges[];
}

/** The database, the audit trail, keys and kept replies. Read when somebody asks; the database is asked at most every 15 s. */
export function measureStore(registry: Registry, measured: MeasuredParts): void {
  const probe = new StoreProbe(measured.database, measured.gauges);
  measureDatabase(registry, measured, probe);
  measureKeys(registry, measured, probe);
  measureJobs(registry, measured.jobs, probe);
  measureAudit(registry, measured);
  measureAuditSeals(registry, measured);
  measureTrailSize(registry, probe);
  measureResponseCache(registry, measured.responseCache);
  measureStored(registry, measured.gauges, probe);
  if (measured.embedded !== null) measureEmbedded(registry, measured.embedded);
}

function measureDatabase(registry: Registry, { database }: MeasuredParts, probe: StoreProbe): void {
  const registers = [registry];
  new Counter({
    name: 'strongroom_sql_statements_total',
    help: 'SQL statements sent to Postgres, including transaction control, for requests or background tasks.',
    labelNames: ['origin'],
    registers,
    collect() {
      this.reset();
      for (const [origin, count] of Object.entries(database.statements)) this.inc({ origin }, count);
    },
  });
  new Gauge({
    name: 'strongroom_database_connections',
    help: 'Pool connections by state: open, and of these idle or held. Waiting: callers without a connection.',
    labelNames: ['state'],
    registers,
    collect() {
      const { open, idle, held, waiting } = database.connections;
      for (const [state, count] of Object.entries({ open, idle, held, waiting })) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'strongroom_database_hold_seconds',
    help: 'How long the longest-held connection has been held.',
    registers,
    collect() {
      this.set(database.connections.longestHoldMs / 1_000);
    },
  });
  new Counter({
    name: 'strongroom_database_leaks_total',
    help: 'Connections that were never returned to the pool and had to be closed. 0 unless the service has a defect.',
    registers,
    collect() {
      this.reset();
      this.inc(database.connections.leaks);
    },
  });
  const waits = new Histogram({
    name: 'strongroom_database_wait_seconds',
    help: 'Time that statements and transactions waited for a connection of the pool.',
    buckets: [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5],
    registers,
  });
  new Gauge({
    name: 'strongroom_database_up',
    help: '1 if the database answered the last probe of this node within a second.',
    registers,
    async collect() {
      this.set((await probe.read()).isUp ? 1 : 0);
    },
  });
  database.onWait((milliseconds) => waits.observe(milliseconds / 1_000));
}

function measureKeys(registry: Registry, { keyring }: MeasuredParts, probe: StoreProbe): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: (keys: KeyFigures) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const { keys } = await probe.read();
        if (keys !== null) this.set(read(keys));
      },
    });
  };
  gauge('strongroom_data_keys', 'Active data keys of all organizations and projects.', ({ inUse }) => inUse);
  gauge(
    'strongroom_data_key_age_seconds',
    'Age of the oldest active data key. A key is replaced at its first use after 365 days.',
    ({ oldestSeconds }) => oldestSeconds,
  );
  gauge(
    'strongroom_data_key_seals_ratio',
    'Encryptions that the most used data key has made or reserved, as a fraction of its limit of 2^30.',
    ({ mostSeals }) => mostSeals / 2 ** 30,
  );
  new Counter({
    name: 'strongroom_unreadable_values_total',
    help: 'Failed decryptions of stored values.',
    registers,
    collect() {
      this.reset();
      this.inc(keyring.unreadable);
    },
  });
}

function measureAuditSeals(registry: Registry, { auditSealer }: MeasuredParts): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_audit_unsealed_seconds',
    help: 'Age of the oldest row of the audit trail without a seal. 0 if all rows are sealed.',
    registers,
    collect() {
      this.set(auditSealer.figures.unsealedSeconds);
    },
  });
  new Gauge({
    name: 'strongroom_audit_last_seal',
    help: 'Number of the last seal of the audit trail known to this node.',
    registers,
    collect() {
      this.set(auditSealer.figures.lastSeal);
    },
  });
}

function measureTrailSize(registry: Registry, probe: StoreProbe): void {
  const gauge = (name: string, help: string, read: (trail: TrailSize) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const { trail } = await probe.read();
        if (trail !== null) this.set(read(trail));
      },
    });
  };
  gauge(
    'strongroom_audit_bytes',
    'Size of the audit trail on disk with its indexes, as of the last vacuum.',
    ({ bytes }) => bytes,
  );
  gauge('strongroom_audit_rows', 'Rows of the audit trail, as estimated by the database.', ({ rows }) => rows);
  gauge(
    'strongroom_audit_expiring_months',
    'Months that have a partition of the audit trail, to be dropped when they begin.',
    ({ months }) => months,
  );
}

function measureAudit(registry: Registry, { auditTrail }: MeasuredParts): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_audit_queue_length',
    help: 'Audit records of reads that are not stored yet.',
    registers,
    collect() {
      this.set(auditTrail.waiting.count);
    },
  });
  new Gauge({
    name: 'strongroom_audit_oldest_wait_seconds',
    help: 'How long the oldest unstored audit record has waited. After two seconds its request is refused.',
    registers,
    collect() {
      this.set(auditTrail.waiting.oldestMs / 1_000);
    },
  });
}

function measureResponseCache(registry: Registry, responseCache: ResponseCache): void {
  const registers = [registry];
  new Counter({
    name: 'strongroom_reply_cache_requests_total',
    help: 'Requests for cacheable responses: served from the response cache (hit), or built (miss).',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      this.inc({ result: 'hit' }, responseCache.figures.hits);
      this.inc({ result: 'miss' }, responseCache.figures.misses);
    },
  });
  new Gauge({
    name: 'strongroom_reply_cache_bytes',
    help: 'Memory used by the response cache.',
    registers,
    collect() {
      this.set(responseCache.figures.bytes);
    },
  });
}

function measureEmbedded(registry: Registry, figures: () => Promise<EmbeddedFigures>): void {
  const registers = [registry];
  new Counter({
    name: 'strongroom_postgres_restarts_total',
    help: 'How often the embedded Postgres exited unexpectedly and was restarted.',
    registers,
    async collect() {
      const { restarts } = await figures();
      this.reset();
      this.inc(restarts);
    },
  });
  new Gauge({
    name: 'strongroom_disk_reserve_bytes',
    help: 'Size of the disk reserve, the file `ballast` that you can delete when the disk is full: 64 MiB, or 0 if it is missing.',
    registers,
    async collect() {
      this.set((await figures()).reserveBytes);
    },
  });
}

/** Figures of slices. */
function measureStored(registry: Registry, stored: readonly StoredGauges[], probe: StoreProbe): void {
  for (const each of stored) {
    const labels = Object.entries(each.labels);
    for (const { name, help, value } of each.gauges)
      new Gauge({
        name,
        help,
        labelNames: Object.keys(each.labels),
        registers: [registry],
        async collect() {
          this.reset();
          for (const row of (await probe.read()).stored.get(each) ?? []) {
            const figure = value(row);
            const words = labels.map(([label, column]) => [label, (row as Record<string, string>)[column] as string]);
            if (figure !== null) this.set(Object.fromEntries(words), figure);
          }
        },
      });
  }
}

/** Background work: what waits and what failed on all nodes, what this node has done, and whether Agenda's store is reached. */
function measureJobs(registry: Registry, jobs: Jobs, probe: StoreProbe): void {
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
