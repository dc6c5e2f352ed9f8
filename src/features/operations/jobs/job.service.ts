import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfOwned } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { countIn } from '../../../kernel/database/tables.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { StoredJobKind } from '../../../kernel/jobs/job.entity.js';
import { type KindRow, listKinds } from '../../../kernel/jobs/job.sql.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { wakeAfterCommit } from '../../../kernel/jobs/queue.js';
import { type Counted, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { ListJobs, OneJob, OneJobKind } from './job.rules.js';
import {
  type AttemptRow,
  CANCEL_JOB,
  COUNT_JOBS,
  FIND_JOBS,
  type JobRow,
  LIST_ATTEMPTS,
  LIST_JOBS,
  LIST_KINDS_OF_ORGANIZATION,
  RETRY_JOB,
} from './job.sql.js';

/**
 * Work in the background, as operators see it: that of the caller's organization, and for the admin of the installation also that
 * of no organization.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class JobService {
  private readonly kinds: ReadonlyMap<string, JobKind>;

  /** @param kinds all that this version of the service knows */
  constructor(kinds: readonly JobKind[]) {
    this.kinds = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  /** One job. @throws JOB_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<JobRow> {
    const { id } = parse(OneJob, raw);
    authorize(ctx, 'jobs:read');
    const job = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(job));
    return job;
  }

  /** Jobs, newest first. */
  async list(ctx: Context, raw: unknown): Promise<Page<JobRow> & Counted> {
    const { kind = null, state, projectId, ...request } = parse(ListJobs, raw);
    const { time, id, limit } = timePageBounds(request);
    authorize(ctx, 'jobs:read');
    const project = projectId == null ? null : isId(projectId) ? projectId : NO_ID;
    const wanted = { ...reachOf(ctx), kind, projectId: project, state: state ?? null };
    const rows = await LIST_JOBS({ isOfState: state != null })(ctx, { ...wanted, time, id, limit: String(limit) });
    const page = new Page(rows, request, (job) => timeCursorKey(job.createdAt, job.id));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'job:list',
      projectId: project,
      facts: { count: page.nodes.length },
    });
    return counted(page, async () => countIn(await COUNT_JOBS({ isOfState: state != null })(ctx, wanted)));
  }

  /** Tries a job again that has failed or was cancelled, or at once one that waits. @throws JOB_NOT_FOUND, JOB_NOT_RETRYABLE */
  retry(ctx: Context, raw: unknown): Promise<JobRow> {
    const { id } = parse(OneJob, raw);
    authorize(ctx, 'jobs:edit');
    return inTransaction(ctx, async (tx) => {
      const [job] = isId(id) ? await RETRY_JOB(tx, { id, ...reachOf(tx) }) : [];
      if (job === undefined) return refuse(tx, id, 'JOB_NOT_RETRYABLE');
      await recordChange(tx, 'job:retry', job);
      wakeAfterCommit(tx, [job]);
      return job;
    });
  }

  /**
   * Cancels a job that waits, or asks one that runs to stop. Its work ends with it.
   *
   * @throws JOB_NOT_FOUND, JOB_NOT_CANCELLABLE; JOB_IS_NEEDED if another operation has to end that
   */
  cancel(ctx: Context, raw: unknown): Promise<JobRow> {
    const { id } = parse(OneJob, raw);
    authorize(ctx, 'jobs:edit');
    return inTransaction(ctx, async (tx) => {
      const [job] = isId(id) ? await CANCEL_JOB(tx, { id, ...reachOf(tx) }) : [];
      if (job === undefined) return refuse(tx, id, 'JOB_NOT_CANCELLABLE');
      await this.kinds.get(job.kind)?.onCancel?.(tx, job);
      await recordChange(tx, 'job:cancel', job);
      return job;
    });
  }

  /** Attempts of a job that an answer shows, oldest first; all jobs share one statement. */
  async attemptsOf(ctx: Context, { id }: { readonly id: string }): Promise<readonly AttemptRow[]> {
    return (await batched(ctx, attemptsByJob, id)) ?? [];
  }
}

/** Jobs by id. @throws PERMISSION_DENIED */
export const jobsByIds: BatchLoad<JobRow> = async (ctx, ids) => {
  authorize(ctx, 'jobs:read');
  const rows = await FIND_JOBS(ctx, { ids, ...reachOf(ctx) });
  return new Map(rows.map((row) => [row.id, row]));
};

/** What the audit trail says of a job that is shown. */
export const auditOfRead = ({ id, projectId }: Pick<JobRow, 'id' | 'projectId'>) => ({
  action: 'job:get',
  projectId,
  facts: { jobId: id },
});

const attemptsByJob = batchOfOwned(
  (ctx, jobIds) => LIST_ATTEMPTS(ctx, { jobIds }),
  ({ jobId }) => jobId,
);

const reachOf = ({ organizationId, actor }: Context) => ({
  organizationId,
  isInstallationAdmin: actor.isInstallationAdmin,
});

/** @throws JOB_NOT_FOUND */
async function load(ctx: Context, id: string): Promise<JobRow> {
  const [job] = isId(id) ? await FIND_JOBS(ctx, { ids: [id], ...reachOf(ctx) }) : [];
  if (job === undefined) throw new AppError('JOB_NOT_FOUND');
  return job;
}

/** Why a statement changed nothing: there is no such job, or its state did not let it. */
async function refuse(tx: Transaction, id: string, code: ErrorCode): Promise<never> {
  await load(tx, id);
  throw new AppError(code);
}

const recordChange = (
  tx: Transaction,
  action: string,
  { id, kind, projectId, stateBefore }: JobRow & { readonly stateBefore: string },
): Promise<void> => tx.auditTrail.recordChange(tx, { action, projectId, facts: { jobId: id, kind, stateBefore } });

/** A kind of jobs, with what this version of the service says of it. */
interface DescribedKind extends KindRow {
  readonly description: string | null;
}

/**
 * Kinds of work in the background. Whoever may read jobs sees them; only the admin of the installation pauses one, which is one
 * for all organizations.
 *
 * Every method throws PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class JobKindService {
  private readonly descriptions: ReadonlyMap<string, string>;

  /** @param kinds all that this version of the service knows */
  constructor(kinds: readonly JobKind[]) {
    this.descriptions = new Map(kinds.map(({ name, description }) => [name, description]));
  }

  /** All kinds that any node of the installation has known, by name. */
  async list(ctx: Context): Promise<DescribedKind[]> {
    authorize(ctx, 'jobs:read');
    const kinds = await this.read(ctx);
    await ctx.auditTrail.recordRead(ctx, { action: 'job-kind:list', facts: { count: kinds.length } });
    return kinds;
  }

  /** Pauses a kind of jobs on all nodes. Running jobs continue. @throws VALIDATION_FAILED, JOB_KIND_NOT_FOUND */
  pause(ctx: Context, raw: unknown): Promise<DescribedKind> {
    return this.setPaused(ctx, raw, true);
  }

  /** Lets jobs of a kind begin again. @throws VALIDATION_FAILED, JOB_KIND_NOT_FOUND */
  resume(ctx: Context, raw: unknown): Promise<DescribedKind> {
    return this.setPaused(ctx, raw, false);
  }

  private setPaused(ctx: Context, raw: unknown, isPaused: boolean): Promise<DescribedKind> {
    const { name } = parse(OneJobKind, raw);
    if (!ctx.actor.isInstallationAdmin) throw new PermissionDenied({ action: 'jobs:pause-kind', projectId: null });
    return inTransaction(ctx, async (tx) => {
      await tx.em.nativeUpdate(StoredJobKind, { name }, { isPaused });
      const kind = (await this.read(tx)).find((each) => each.name === name);
      if (kind === undefined) throw new AppError('JOB_KIND_NOT_FOUND');
      const action = isPaused ? 'job-kind:pause' : 'job-kind:resume';
      await tx.auditTrail.recordChange(tx, { action, facts: { kind: name } });
      if (!isPaused) tx.afterCommit.push(() => tx.wakeJobs?.());
      return kind;
    });
  }

  private async read(ctx: Context): Promise<DescribedKind[]> {
    const { organizationId, actor } = ctx;
    const rows = await (actor.isInstallationAdmin
      ? listKinds(ctx, {})
      : LIST_KINDS_OF_ORGANIZATION(ctx, { organizationId }));
    return rows.map((row) => ({ ...row, description: this.descriptions.get(row.name) ?? null }));
  }
}
