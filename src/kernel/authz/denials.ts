import type { Context } from '../context.js';
import type { PermissionDenied } from './ability.js';

/** A denial, as the audit trail records it. */
export const denialOf = ({ attempt: { action, projectId } }: PermissionDenied) =>
  ({ action, projectId, outcome: 'denied' }) as const;

/** Records in the audit trail what was denied, before the caller is told. @throws AUDIT_UNAVAILABLE */
export const recordDenial = (ctx: Context, denial: PermissionDenied): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, denialOf(denial));
