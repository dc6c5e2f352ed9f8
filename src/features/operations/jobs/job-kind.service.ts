import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { StoredJobKind } from '../../../kernel/jobs/job.entity.js';
import { type KindRow, listKinds } from '../../../kernel/jobs/job.sql.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { parse } from '../../../kernel/validation.js';
import { OneJobKind } from './job.rules.js';
import { LIST_KINDS_OF_ORGANIZATION } from './job.sql.js';

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
