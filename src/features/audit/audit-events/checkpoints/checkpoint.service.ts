import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context } from '../../../../kernel/context.js';
import type { BatchLoad } from '../../../../kernel/database/batched.js';
import { emOf } from '../../../../kernel/database/database.js';
import { inTransaction } from '../../../../kernel/database/in-transaction.js';
import { type CursorKey, decodeCursor, Page } from '../../../../kernel/paging.js';
import { parse } from '../../../../kernel/validation.js';
import { AuditCheckpoint } from './checkpoint.entity.js';
import { CreateCheckpoint, ListCheckpoints } from './checkpoint.rules.js';
import { makeCheckpoint } from './making.js';

const keyOf = ({ number }: AuditCheckpoint): CursorKey => [String(number)];

/**
 * Signed checkpoints of the trail of an organization. Whoever keeps them elsewhere can later prove that the trail was not changed.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class CheckpointService {
  /** Checkpoints, oldest first. @param raw `{ first, after }` */
  async list(ctx: Context, raw: unknown): Promise<Page<AuditCheckpoint>> {
    const request = parse(ListCheckpoints, raw);
    const [after = null] = request.after == null ? [] : decodeCursor(request.after, 1);
    authorize(ctx, 'audit-logs:read');
    const { organizationId } = ctx;
    const rows = await emOf(ctx).find(
      AuditCheckpoint,
      { organizationId, number: { $gt: Number(after ?? 0) } },
      { orderBy: { number: 'asc' }, limit: request.first + 1 },
    );
    const page = new Page(rows, request, keyOf);
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-checkpoint:list', facts: { count: page.nodes.length } });
    return page;
  }

  /**
   * Makes one now: it covers settled events that no other one does, or none.
   *
   * @param raw `{ maxEvents? }`
   */
  create(ctx: Context, raw: unknown): Promise<AuditCheckpoint> {
    const { maxEvents } = parse(CreateCheckpoint, raw);
    authorize(ctx, 'audit-logs:read');
    return inTransaction(ctx, async (tx) => (await makeCheckpoint(tx, maxEvents)).checkpoint);
  }
}

/** The audit record of reading a checkpoint. */
export const readOf = ({ id }: Pick<AuditCheckpoint, 'id'>) => ({
  action: 'audit-checkpoint:get',
  facts: { auditCheckpointId: id },
});

/** Checkpoints by ID. @throws PERMISSION_DENIED */
export const checkpointsByIds: BatchLoad<AuditCheckpoint> = async (ctx, ids) => {
  authorize(ctx, 'audit-logs:read');
  const rows = await emOf(ctx).find(AuditCheckpoint, { organizationId: ctx.organizationId, id: { $in: ids } });
  return new Map(rows.map((row) => [row.id, row]));
};
