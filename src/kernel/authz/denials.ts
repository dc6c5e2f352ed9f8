import type { Context } from '../context.js';
import type { PermissionDenied } from './ability.js';

/** A denial, as the audit trail records it. */
export const denialOf = ({ attempt: { action, projectId } }: PermissionDenied) =>
  ({ action, projectId, outcome: 'denied' }) as const;

/** Records a denied action in the audit trail before the caller gets the response. @throws AUDIT_UNAVAILABLE */
export const recordDenial = (ctx: Context, denial: PermissionDenied): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, denialOf(denial));
