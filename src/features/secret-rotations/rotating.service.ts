import type { Context, Transaction } from '../../kernel/context.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { loadRow } from '../../kernel/database/rows.js';
import { AppError } from '../../kernel/errors.js';
import { isId, NO_ID } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import { openConnection, refusalOf, TargetFailure } from '../app-connections/public.js';
import type { ProjectReader } from '../projects/public.js';
import { beginAttempt } from './engine/begin.js';
import { databaseTime, forget, isStillUndecided, leaveUndecided, moveTo, nextOf } from './engine/outcomes.js';
import { waitForAttempt } from './engine/waiting.js';
import { currentOf } from './engine/work.js';
import type { Kinds } from './kinds/kinds.js';
import { CancelAttempt, OneRotation, RotateSecrets } from './rotation.rules.js';
import { refuseBusy, running, shown } from './rotation.service.js';
import { inTurnOf, type NamedRotation, RotationAccess, type ShownRotation } from './rotation-access.js';
import type { AttemptReason } from './store/attempt.entity.js';
import { type AttemptRow, findAttempts } from './store/attempt.sql.js';
import type { SecretRotation } from './store/rotation.entity.js';

/** The result of a requested rotation. */
export interface Rotated {
  readonly rotation: ShownRotation;
  readonly attempt: AttemptRow;
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
    const { wait, ...named } = parse(RotateSecrets, raw);
    return this.#begin(ctx, { named, wait, reason: 'manual' });
  }

  /**
   * Resets the password with the permissions of the connection, if it is unknown which password is valid.
   *
   * @throws ROTATION_NOT_RECONCILABLE, ROTATION_RUNNING, ROTATION_DELETING; as `waitForAttempt`
   */
  async reconcile(ctx: Context, raw: unknown): Promise<Rotated> {
    return this.#begin(ctx, { named: parse(OneRotation, raw), wait: true, reason: 'reconciliation' });
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
    return shown(ctx, rotationId);
  }

  /**
   * Cancels an attempt as long as the external system was not called. If the result of the call was looked up in vain, the attempt ends
   * undecided: an external system that never comes back must not block its rotation forever.
   *
   * @throws SECRET_ROTATION_ATTEMPT_NOT_FOUND, ROTATION_ATTEMPT_BEGUN
   */
  async cancel(ctx: Context, raw: unknown): Promise<AttemptRow> {
    const { attemptId } = parse(CancelAttempt, raw);
    return inTransaction(ctx, async (tx) => {
      const { attempt, rotation } = await this.#lockOf(tx, attemptId);
      await this.#cancel(tx, rotation, attempt);
      return loadRow(tx, findAttempts, { ids: [attemptId] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    });
  }

  /** An attempt and its rotation, locked. @throws SECRET_ROTATION_ATTEMPT_NOT_FOUND, PERMISSION_DENIED */
  async #lockOf(tx: Transaction, attemptId: string) {
    const [attempt] = isId(attemptId) ? await findAttempts(tx, { ids: [attemptId] }) : [];
    // Always looked up, so that unknown and hidden IDs take the same statements.
    const named = { id: attempt?.rotationId ?? NO_ID };
    const found = await this.access.lock(tx, named, 'secret-rotation:rotate-secrets').catch((error: unknown) => {
      throw error instanceof AppError && error.status === 404
        ? new AppError('SECRET_ROTATION_ATTEMPT_NOT_FOUND')
        : error;
    });
    if (attempt === undefined) throw new AppError('SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    return { attempt, rotation: found.rotation };
  }

  async #cancel(tx: Transaction, rotation: SecretRotation, attempt: AttemptRow): Promise<void> {
    const held = { ...attempt, rotationId: rotation.id };
    if (!(await moveTo(tx, { attempt: held }, 'cancelled'))) return this.#giveUp(tx, rotation, attempt.id);
    const { id: rotationId, projectId } = rotation;
    const isUndecided = await isStillUndecided(tx, { attempt: held });
    if (rotation.generation === 0 && !isUndecided) await forget(tx, rotation);
    else {
      const now = await databaseTime(tx);
      const status = rotation.failures === 0 ? 'success' : 'failed';
      tx.em.assign(
        rotation,
        isUndecided
          ? { status: 'needs_reconciliation', nextRotationAt: null }
          : { status, nextRotationAt: await nextOf(tx, rotation, now) },
      );
      await flush(tx);
    }
    const facts = { rotationId, attemptId: attempt.id };
    await tx.auditTrail.recordChange(tx, { action: 'secret-rotation:cancel', projectId, facts });
  }

  /** @throws ROTATION_ATTEMPT_BEGUN unless its result was looked up in vain */
  async #giveUp(tx: Transaction, rotation: SecretRotation, attemptId: string): Promise<void> {
    const kind = this.kinds.of(rotation.type);
    const attempt = await loadRow(tx, findAttempts, { ids: [attemptId] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    if (attempt.state !== 'calling' || attempt.tries === 0 || kind.overlaps)
      throw new AppError('ROTATION_ATTEMPT_BEGUN');
    await leaveUndecided(
      tx,
      { attempt: { ...attempt, rotationId: rotation.id }, kind },
      { code: attempt.errorCode ?? 'TARGET_UNREACHABLE', message: GIVEN_UP },
    );
  }

  async #begin(
    ctx: Context,
    {
      named,
      wait,
      reason,
    }: {
      readonly named: NamedRotation;
      readonly wait: boolean;
      readonly reason: AttemptReason;
    },
  ): Promise<Rotated> {
    const { attemptId, rotationId } = await inTurnOf(ctx, named.id, async (tx) => {
      const { rotation } = await this.access.lock(tx, named, 'secret-rotation:rotate-secrets');
      const kind = this.kinds.of(rotation.type);
      const isReconciliation = reason === 'reconciliation';
      const isUndecided = rotation.status === 'needs_reconciliation';
      if (isReconciliation && !isUndecided && !kind.mayReset?.(rotation.parameters))
        throw new AppError('ROTATION_NOT_RECONCILABLE');
      refuseBusy(rotation);
      if (isUndecided && !isReconciliation) throw new AppError('ROTATION_UNDECIDED');
      const begun = await beginAttempt(tx, { rotation, kind, reason, actor: tx.actor });
      if (begun === null) throw running('id');
      await tx.auditTrail.recordChange(tx, {
        action: 'secret-rotation:begin',
        projectId: rotation.projectId,
        facts: { rotationId: rotation.id, attemptId: begun, reason },
      });
      return { attemptId: begun, rotationId: rotation.id };
    });
    if (wait) await waitForAttempt(ctx, attemptId, 'id');
    const attempt = await loadRow(ctx, findAttempts, { ids: [attemptId] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    return { rotation: await shown(ctx, rotationId), attempt };
  }
}

const GIVEN_UP =
  'The lookup of the result of the call was abandoned: it is unknown which password is valid. Reconcile the rotation when the server is available again.';
