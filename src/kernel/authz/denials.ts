import type { Context } from '../context.js';
import type { PermissionDenied } from './ability.js';

/** Tells the audit trail what was refused, before the caller is told. @throws AUDIT_UNAVAILABLE */
export const recordDenial = (ctx: Context, { attempt }: PermissionDenied): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, { action: attempt.action, projectId: attempt.projectId, outcome: 'denied' });
