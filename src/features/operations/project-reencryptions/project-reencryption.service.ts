import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf, queryOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { ProjectReencryption } from './project-reencryption.entity.js';
import { ListReencryptions, OneReencryption, StartReencryption } from './project-reencryption.rules.js';
import {
  changeState,
  findReencryptions,
  listReencryptions,
  lockProjectKey,
  type ReencryptionRow,
} from './project-reencryption.sql.js';

const REENCRYPTION = { find: findReencryptions, notFound: 'REENCRYPTION_NOT_FOUND' } as const;
/** Of whoever changes the project, and so of whoever looks. */
const RIGHT = 'workspace:edit';

/** What callers have done with one: the state that it gets, and the action in the audit trail. */
const CHANGES = {
  pause: 'paused',
  resume: 'running',
  cancel: 'cancelled',
} as const;

/**
 * Re-encryptions of projects: a new key, with which a job seals everything anew.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class ReencryptionService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly job: JobKind,
  ) {}

  /**
   * Gives a project a new key, which seals on every node once this answers, and has a job seal everything else with it.
   *
   * @throws PROJECT_NOT_FOUND, REENCRYPTION_RUNNING, KEY_DISABLED, SEALED_VALUE_INVALID
   */
  async start(ctx: Context, raw: unknown): Promise<ReencryptionRow> {
    const { projectId: requested } = parse(StartReencryption, raw);
    const started = await inTransaction(ctx, async (tx) => {
      const { projectId, organizationId } = await this.projects.authorized(tx, requested, RIGHT);
      authorize(tx, 'kms:edit');
      const key = await loadRow(tx, lockProjectKey, { projectId }, 'PROJECT_NOT_FOUND');
      if (key.disabledAt !== null) throw new AppError('KEY_DISABLED');
      const { id } = tx.em.create(ProjectReencryption, { organizationId, projectId });
      await flush(tx, { project_reencryption_active_unique: 'REENCRYPTION_RUNNING' });
      await tx.keyring.renewProjectKey(queryOf(tx), { organizationId, projectId });
      return this.#changed(tx, 'start', { id, organizationId, projectId });
    });
    await ctx.keyring.untilSeen();
    return started;
  }

  /** Pauses, resumes or cancels one. To resume one that is not paused changes nothing. @throws REENCRYPTION_NOT_FOUND, REENCRYPTION_ENDED */
  change(ctx: Context, raw: unknown, change: keyof typeof CHANGES): Promise<ReencryptionRow> {
    const ref = parse(OneReencryption, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId, organizationId } = await this.projects.authorizedOwner(tx, ref, REENCRYPTION, RIGHT);
      authorize(tx, 'kms:edit');
      await loadRow(tx, changeState, { id: ref.id, projectId, state: CHANGES[change] }, 'REENCRYPTION_ENDED');
      return this.#changed(tx, change, { id: ref.id, organizationId, projectId });
    });
  }

  /** Returns one. @throws REENCRYPTION_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<ReencryptionRow> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneReencryption, raw), REENCRYPTION, RIGHT);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists those of a project, newest first. @throws PROJECT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<ReencryptionRow>> {
    const { projectId: requested, ...request } = parse(ListReencryptions, raw);
    const bounds = timePageBounds(request);
    const { projectId } = await this.projects.authorized(ctx, requested, RIGHT);
    const rows = await listReencryptions(ctx, { projectId, ...bounds });
    const page = new Page(rows, request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-reencryption:list',
      projectId,
      facts: { count: page.nodes.length },
    });
    return counted(page, () => emOf(ctx).count(ProjectReencryption, { projectId }));
  }

  async #changed(
    tx: Transaction,
    change: keyof typeof CHANGES | 'start',
    { id, organizationId, projectId }: { id: string; organizationId: string; projectId: string },
  ): Promise<ReencryptionRow> {
    if (change === 'start' || change === 'resume')
      await enqueueStanding(tx, this.job, [{ key: id, organizationId, projectId, subjectId: id }]);
    await tx.auditTrail.recordChange(tx, {
      action: `project-reencryption:${change}`,
      projectId,
      facts: { projectReencryptionId: id },
    });
    return loadRow(tx, findReencryptions, { ids: [id] }, 'REENCRYPTION_NOT_FOUND');
  }
}

/** The audit record of reading one. */
export const auditOfRead = ({ id, projectId }: Pick<ReencryptionRow, 'id' | 'projectId'>) => ({
  action: 'project-reencryption:get',
  projectId,
  facts: { projectReencryptionId: id },
});
