import { PermissionDenied } from '../../../../kernel/authz/ability.js';
import type { Context } from '../../../../kernel/context.js';
import type { BatchLoad } from '../../../../kernel/database/batched.js';
import { emOf } from '../../../../kernel/database/database.js';
import { inTransaction } from '../../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../../kernel/database/rows.js';
import { newId } from '../../../../kernel/ids.js';
import { queue } from '../../../../kernel/jobs/queue.js';
import { type Counted, counted, Page, timeCursorKey, timePageBounds } from '../../../../kernel/paging.js';
import { parse } from '../../../../kernel/validation.js';
import { AuditVerification } from './verification.entity.js';
import {
  deleteOldVerifications,
  findOpen,
  findVerifications,
  listVerifications,
  lockVerifications,
  type VerificationRow,
} from './verification.queries.js';
import { ListVerifications, OneVerification, VerifyTrail } from './verification.rules.js';
import { VERIFICATION_JOB } from './verification-job.js';

const KEPT = 100;

/**
 * Verifications of the whole audit trail, of all organizations: the admin of the installation alone starts and sees them.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class VerificationService {
  /** Starts a verification; one that waits or runs is returned instead of a second one. @param raw `{ anchors? }` */
  start(ctx: Context, raw: unknown): Promise<VerificationRow> {
    const { anchors } = parse(VerifyTrail, raw);
    authorizeAdmin(ctx);
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      await lockVerifications(tx, {});
      const [open] = await findOpen(tx, { organizationId });
      const id = open?.id ?? newId();
      if (open === undefined) {
        const [jobId = ''] = await queue(tx, VERIFICATION_JOB, [{ key: id, organizationId, subjectId: id }]);
        await tx.em.insert(AuditVerification, { id, organizationId, jobId, anchors });
        await deleteOldVerifications(tx, { organizationId, kept: KEPT });
      }
      const facts = { verificationId: id, isNew: open === undefined };
      await tx.auditTrail.recordChange(tx, { action: 'audit-trail-verification:start', subjectId: id, facts });
      return open ?? load(tx, id);
    });
  }

  /** One verification. @throws AUDIT_TRAIL_VERIFICATION_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<VerificationRow> {
    const { id } = parse(OneVerification, raw);
    authorizeAdmin(ctx);
    const verification = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(verification));
    return verification;
  }

  /** Verifications, newest first. @param raw `{ first, after }` */
  async list(ctx: Context, raw: unknown): Promise<Page<VerificationRow> & Counted> {
    const request = parse(ListVerifications, raw);
    const bounds = timePageBounds(request);
    authorizeAdmin(ctx);
    const rows = await listVerifications(ctx, { organizationId: ctx.organizationId, ...bounds });
    const page = new Page(rows, request, (row) => timeCursorKey(row.createdAt, row.id));
    const facts = { count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-trail-verification:list', facts });
    return counted(page, () => emOf(ctx).count(AuditVerification, { organizationId: ctx.organizationId }));
  }
}

/** @throws PERMISSION_DENIED */
function authorizeAdmin({ actor }: Context): void {
  if (!actor.isInstallationAdmin) throw new PermissionDenied({ action: 'audit-trail:verify', projectId: null });
}

/** The audit record of reading a verification. */
export const auditOfRead = ({ id }: Pick<VerificationRow, 'id'>) => ({
  action: 'audit-trail-verification:get',
  facts: { verificationId: id },
});

/** Verifications by ID. @throws PERMISSION_DENIED */
export const verificationsByIds: BatchLoad<VerificationRow> = async (ctx, ids) => {
  authorizeAdmin(ctx);
  const rows = await findVerifications(ctx, { organizationId: ctx.organizationId, ids });
  return new Map(rows.map((row) => [row.id, row]));
};

function load(ctx: Context, id: string): Promise<VerificationRow> {
  const key = { organizationId: ctx.organizationId, ids: [id] };
  return loadRow(ctx, findVerifications, key, 'AUDIT_TRAIL_VERIFICATION_NOT_FOUND');
}
