import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { type CursorKey, decodeCursor, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { CreateCheckpoint, ListCheckpoints } from './checkpoint.rules.js';
import { type CheckpointRow, FIND_CHECKPOINTS, LIST_CHECKPOINTS } from './checkpoint.sql.js';
import { makeCheckpoint } from './making.js';

const keyOf = ({ number }: CheckpointRow): CursorKey => [String(number)];

/**
 * Signed checkpoints of the trail of an organization. Whoever keeps them elsewhere can later prove that the trail was not changed.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class CheckpointService {
  /** Checkpoints, oldest first. @param raw `{ first, after }` */
  async list(ctx: Context, raw: unknown): Promise<Page<CheckpointRow>> {
    const request = parse(ListCheckpoints, raw);
    const [after = null] = request.after == null ? [] : decodeCursor(request.after, 1);
    authorize(ctx, 'audit-logs:read');
    const { organizationId } = ctx;
    const limit = String(request.first + 1);
    const rows = await LIST_CHECKPOINTS(ctx, { organizationId, after: after === null ? null : Number(after), limit });
    const page = new Page(rows, request, keyOf);
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-checkpoint:list', facts: { count: page.nodes.length } });
    return page;
  }

  /**
   * Makes one now: it covers settled events that no other one does, or none.
   *
   * @param raw `{ maxEvents? }`
   */
  create(ctx: Context, raw: unknown): Promise<CheckpointRow> {
    const { maxEvents } = parse(CreateCheckpoint, raw);
    authorize(ctx, 'audit-logs:read');
    return inTransaction(ctx, async (tx) => (await makeCheckpoint(tx, maxEvents)).checkpoint);
  }
}

/** The audit record of reading a checkpoint. */
export const readOf = ({ id }: Pick<CheckpointRow, 'id'>) => ({
  action: 'audit-checkpoint:get',
  facts: { auditCheckpointId: id },
});

/** Checkpoints by ID. @throws PERMISSION_DENIED */
export const checkpointsByIds: BatchLoad<CheckpointRow> = async (ctx, ids) => {
  authorize(ctx, 'audit-logs:read');
  const rows = await FIND_CHECKPOINTS(ctx, { organizationId: ctx.organizationId, ids });
  return new Map(rows.map((row) => [row.id, row]));
};
