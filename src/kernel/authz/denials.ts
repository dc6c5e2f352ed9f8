import type { Context } from '../context.js';
import { PermissionDenied } from './ability.js';

/** A denial, as the audit trail records it. */
export const denialOf = ({ attempt: { action, projectId } }: PermissionDenied) =>
  ({ action, projectId, outcome: 'denied' }) as const;

/** Records a denied action in the audit trail before the caller gets the response. @throws AUDIT_UNAVAILABLE */
export const recordDenial = (ctx: Context, denial: PermissionDenied): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, denialOf(denial));

/** Does work, and records it in the audit trail if it is denied. @throws what the work throws, AUDIT_UNAVAILABLE */
export async function recordingDenials<T>(ctx: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PermissionDenied) await recordDenial(ctx, error);
    throw error;
  }
}
