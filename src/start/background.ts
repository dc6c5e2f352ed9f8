import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config.js';
import type { Kernel } from '../kernel/context.js';
import type { Database } from '../kernel/database/database.js';
import { Growth, SMALL_PAGES } from '../kernel/database/growth.js';
import { listTableSizes } from '../kernel/database/plans.sql.js';
import type { Lifecycle } from '../kernel/http/health.js';
import type { JobKind } from '../kernel/jobs/job-kind.js';
import { Jobs } from '../kernel/jobs/jobs.js';
import { storeAt } from '../kernel/jobs/stores.js';
import type { Log } from '../kernel/log.js';
import type { RateLimits } from '../kernel/operations/limits/rate-limits.js';
import { SharedCounts } from '../kernel/operations/limits/shared-counts.js';
import { deleteOldKeys } from '../kernel/operations/responses/idempotency-key.sql.js';
import { periodically } from '../kernel/periodic.js';
import { systemContext } from './system-context.js';

/** Pause between sweeps of idempotency keys. */
const KEY_SWEEP_MS = 20_000;
/** The same between looks at the sizes of tables. */
const GROWTH_MS = 5_000;
/** After fewer statements nothing has grown by much. */
const FEW_STATEMENTS = 100;

/** Begins to trace, if traces go anywhere: else the code for it is not loaded. @returns what ends it */
export async function startTraces({ traces }: Pick<Config, 'traces'>, log: Log): Promise<() => Promise<void>> {
  if (traces === null) return async () => undefined;
  const { startTracing } = await import('../kernel/tracing/start-tracing.js');
  return startTracing(traces, packageJson.version, log);
}

interface JobParts {
  readonly kinds: readonly JobKind[];
  readonly config: Pick<Config, 'jobsUrl'>;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
}

/** The jobs of this node, not yet started, and the kernel by which whoever queues one wakes them. */
export function createJobs(
  kernel: Kernel,
  { kinds, config, log, lifecycle }: JobParts,
): { jobs: Jobs; kernel: Kernel } {
  const jobs: Jobs = new Jobs({
    database: kernel.database,
    kinds,
    contextOf: (organizationId) => systemContext(waking, organizationId),
    log,
    isLeaving: () => lifecycle.isDraining,
    storeAt: config.jobsUrl && storeAt(config.jobsUrl),
  });
  const waking: Kernel = { ...kernel, wakeJobs: jobs.wake, enqueueStandingLater: jobs.enqueueStandingLater, log };
  return { jobs, kernel: waking };
}

/** Starts what runs in the background of a node. @returns what ends it, in the order of their start */
export async function startBackgroundWork(
  database: Database,
  { jobs, rateLimits, limitKey, log }: { jobs: Jobs; rateLimits: RateLimits; limitKey: Buffer; log: Log },
): Promise<(() => Promise<unknown>)[]> {
  const sweep = periodically('old idempotency keys', KEY_SWEEP_MS, () => deleteOldKeys(database.inBackground, {}), log);
  const stopRenewing = await renewPlans(database, log);
  await jobs.start();
  const stops = [sweep, stopRenewing, () => jobs.stop()];
  if (rateLimits.buckets === null) return stops;
  const counts = new SharedCounts(rateLimits.buckets, database, limitKey, log);
  await counts.start();
  return [...stops, () => counts.close()];
}

/** Has statements planned anew whenever tables have outgrown their plans. @returns what ends it */
async function renewPlans(database: Database, log: Log): Promise<() => Promise<void>> {
  const growth = new Growth();
  let before = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const { request, background } = database.statements;
    if (request + background - before < FEW_STATEMENTS) return;
    before = request + background;
    const sizes = await listTableSizes(database.inBackground, { least: SMALL_PAGES });
    if (!growth.isOutgrown(sizes)) return;
    database.renewPlans();
    log.debug('plans renewed');
  };
  await look();
  return periodically('plans', GROWTH_MS, look, log);
}
