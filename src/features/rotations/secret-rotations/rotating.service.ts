import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { openConnection, refusalOf, TargetFailure } from '../app-connections/public.js';
import { beginAttempt, waitForAttempt } from './engine/begin.js';
import { cancelAttempt } from './engine/cancelling.js';
import { currentOf } from './engine/work.js';
import type { Kinds } from './kinds/kinds.js';
import type { ShownRevocation } from './revocations/live-credentials.js';
import { CancelAttempt, OneRotation, RotateSecrets } from './rotation.rules.js';
import { otherAttemptViolation, refuseRunningOrDeleting, showRotation } from './rotation.service.js';
import { inRotationTransaction, RotationAccess, type RotationRef, type ShownRotation } from './rotation-access.js';
import type { AttemptReason } from './store/attempt.entity.js';
import { type AttemptRow, findAttempts } from './store/attempt.queries.js';

/** The result of a requested rotation. */
export interface Rotated {
  readonly rotation: ShownRotation;
  readonly attempt: AttemptRow;
}

/** A cancelled attempt. */
interface Cancelled {
  readonly attempt: AttemptRow;
  /** Credentials that it may have created, and that are still to be revoked. */
  readonly orphans: readonly ShownRevocation[];
}

/**
 * Rotates now, and cancels attempts.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED, SECRET_ROTATION_NOT_FOUND and
 * AUDIT_UNAVAILABLE.
 */
export class RotatingService {
  private readonly access: RotationAccess;

  constructor(
    projects: ProjectReader,
    private readonly kinds: Kinds,
  ) {
    this.access = new RotationAccess(projects);
  }

  /**
   * Replaces the credential now.
   *
   * @throws ROTATION_RUNNING, ROTATION_DELETING, ROTATION_UNDECIDED; as `waitForAttempt`
   * Source: operation 18 of the specification.
   */
  async rotate(ctx: Context, raw: unknown): Promise<Rotated> {
    const { wait, ...ref } = parse(RotateSecrets, raw);
    return this.#begin(ctx, { ref, wait, reason: 'manual' });
  }

  /**
   * Resets the password with the permissions of the connection, if it is unknown which password is valid.
   *
   * @throws ROTATION_NOT_RECONCILABLE, ROTATION_RUNNING, ROTATION_DELETING; as `waitForAttempt`
   */
  async reconcile(ctx: Context, raw: unknown): Promise<Rotated> {
    return this.#begin(ctx, { ref: parse(OneRotation, raw), wait: true, reason: 'reconciliation' });
  }

  /**
   * Checks whether the published credential works, by asking the external system. Changes nothing.
   *
   * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE
   */
  async check(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const { rotation } = await this.access.load(ctx, parse(OneRotation, raw), 'secret-rotation:rotate-secrets');
    const { id: rotationId, organizationId, projectId, parameters, type } = rotation;
    const current = await currentOf(ctx, rotation);
    if (current === null) throw new AppError('ROTATION_UNDECIDED');
    const connection = await openConnection(ctx, rotation.connectionId);
    const target = { rotationId, organizationId, projectId, parameters, connection, current, temporary: null };
    await ctx.auditTrail.recordRead(ctx, { action: 'secret-rotation:check', projectId, facts: { rotationId } });
    await this.kinds
      .of(type)
      .verify(ctx, target, current)
      .catch((error: unknown) => {
        throw error instanceof TargetFailure ? refusalOf(error, 'id') : error;
      });
    return showRotation(ctx, rotationId);
  }

  /**
   * Cancels an attempt as long as the external system was not called. If it was, and the result cannot be looked up, the attempt ends
   * failed or undecided: an external system that never comes back must not block its rotation forever.
   *
   * @throws SECRET_ROTATION_ATTEMPT_NOT_FOUND, ROTATION_ATTEMPT_BEGUN
   */
  async cancel(ctx: Context, raw: unknown): Promise<Cancelled> {
    const { attemptId } = parse(CancelAttempt, raw);
    return inTransaction(ctx, async (tx) => {
      const orphans = await cancelAttempt(tx, { kinds: this.kinds, ...(await this.#lockOf(tx, attemptId)) });
      const attempt = await loadRow(tx, findAttempts, { ids: [attemptId] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
      return { attempt, orphans };
    });
  }

  /** An attempt and its rotation, locked. @throws SECRET_ROTATION_ATTEMPT_NOT_FOUND, PERMISSION_DENIED */
  async #lockOf(tx: Transaction, attemptId: string) {
    const [attempt] = isId(attemptId) ? await findAttempts(tx, { ids: [attemptId] }) : [];
    // Always looked up, so that unknown and hidden IDs take the same statements.
    const ref = { id: attempt?.rotationId ?? NO_ID };
    const found = await this.access.lock(tx, ref, 'secret-rotation:rotate-secrets').catch((error: unknown) => {
      throw error instanceof AppError && error.status === 404
        ? new AppError('SECRET_ROTATION_ATTEMPT_NOT_FOUND')
        : error;
    });
    if (attempt === undefined) throw new AppError('SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    return { attempt, rotation: found.rotation };
  }

  async #begin(
    ctx: Context,
    {
      ref,
      wait,
      reason,
    }: {
      readonly ref: RotationRef;
      readonly wait: boolean;
      readonly reason: AttemptReason;
    },
  ): Promise<Rotated> {
    const { attemptId, rotationId } = await inRotationTransaction(ctx, ref.id, async (tx) => {
      const { rotation } = await this.access.lock(tx, ref, 'secret-rotation:rotate-secrets');
      const kind = this.kinds.of(rotation.type);
      const isReconciliation = reason === 'reconciliation';
      const isUndecided = rotation.status === 'needs_reconciliation';
      if (isReconciliation && !isUndecided && !kind.mayReset?.(rotation.parameters))
        throw new AppError('ROTATION_NOT_RECONCILABLE');
      refuseRunningOrDeleting(rotation);
      if (isUndecided && !isReconciliation) throw new AppError('ROTATION_UNDECIDED');
      const begun = await beginAttempt(tx, { rotation, kind, reason, actor: tx.actor });
      if (begun === null) throw otherAttemptViolation('id');
      await tx.auditTrail.recordChange(tx, {
        action: 'secret-rotation:begin',
        projectId: rotation.projectId,
        facts: { rotationId: rotation.id, attemptId: begun, reason },
      });
      return { attemptId: begun, rotationId: rotation.id };
    });
    if (wait) await waitForAttempt(ctx, attemptId, 'id');
    const attempt = await loadRow(ctx, findAttempts, { ids: [attemptId] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    return { rotation: await showRotation(ctx, rotationId), attempt };
  }
}
