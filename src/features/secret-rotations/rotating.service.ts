import type { Context, Transaction } from '../../kernel/context.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../kernel/database/rows.js';
import { AppError } from '../../kernel/errors.js';
import { isId, NO_ID } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import { openConnection, refusalOf, TargetFailure } from '../app-connections/public.js';
import type { ProjectReader } from '../projects/public.js';
import { releaseRotated } from '../secrets/public.js';
import { oweAll, untilRevoked } from './debts/deletion.js';
import { beginAttempt } from './engine/begin.js';
import { databaseTime, forget, isStillUndecided, leaveUndecided, moveTo, nextOf } from './engine/outcomes.js';
import { waitForAttempt } from './engine/waiting.js';
import { credentialsOf, currentOf } from './engine/work.js';
import type { Kinds } from './kinds/kinds.js';
import { CancelAttempt, DeleteRotation, OneRotation, RotateSecrets } from './rotation.rules.js';
import { refuseBusy, running, shown } from './rotation.service.js';
import { RotationAccess, type ShownRotation, withMessages } from './rotation-access.js';
import type { AttemptReason } from './store/attempt.entity.js';
import { type AttemptRow, findAttempts } from './store/attempt.sql.js';
import { SecretRotation } from './store/rotation.entity.js';

/** The result of a requested rotation. */
export interface Rotated {
  readonly rotation: ShownRotation;
  readonly attempt: AttemptRow;
}

/**
 * Rotates now, and deletes rotations (operations 17 and 18).
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
    const find = { ids: [attemptId] };
    const [attempt] = isId(attemptId) ? await findAttempts(ctx, find) : [];
    // Always looked up, so that unknown and hidden IDs take the same statements.
    const named = { id: attempt?.rotationId ?? NO_ID };
    const found = await this.access.load(ctx, named, 'secret-rotation:rotate-secrets').catch((error: unknown) => {
      throw error instanceof AppError && error.status === 404
        ? new AppError('SECRET_ROTATION_ATTEMPT_NOT_FOUND')
        : error;
    });
    if (attempt === undefined) throw new AppError('SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    const { rotation: view } = found;
    await inTransaction(ctx, async (tx) => {
      const rotation = await lockRow(tx, SecretRotation, { id: view.id }, 'SECRET_ROTATION_NOT_FOUND');
      const held = { ...attempt, rotationId: rotation.id };
      if (!(await moveTo(tx, { attempt: held }, 'cancelled'))) return this.#giveUp(tx, rotation, attempt.id);
      const { projectId } = rotation;
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
      await tx.auditTrail.recordChange(tx, {
        action: 'secret-rotation:cancel',
        projectId,
        facts: { rotationId: view.id, attemptId },
      });
    });
    return loadRow(ctx, findAttempts, find, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
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

  /**
   * Deletes a rotation. With `revokeGeneratedCredentials` its credentials are revoked first; the rotation stays until they are known to be
   * revoked, and the call can be repeated.
   *
   * @returns the deleted rotation
   * @throws ROTATION_RUNNING; UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE if a revocation failed
   */
  async delete(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const { deleteSecrets, revokeGeneratedCredentials, ...named } = parse(DeleteRotation, raw);
    const { rotation: view } = await this.access.load(ctx, named, 'secret-rotation:delete');
    const [before] = await withMessages(ctx, [view]);
    const { id } = view;
    const isRevoking = await inTransaction(ctx, async (tx) => {
      const rotation = await lockRow(tx, SecretRotation, { id }, 'SECRET_ROTATION_NOT_FOUND');
      if (rotation.status === 'in_progress') throw new AppError('ROTATION_RUNNING');
      if (rotation.status === 'deleting' || revokeGeneratedCredentials)
        return this.#revoke(tx, rotation, deleteSecrets);
      await end(tx, rotation, deleteSecrets);
      return false;
    });
    if (isRevoking) await untilRevoked(ctx, id);
    return before as ShownRotation;
  }

  async #revoke(tx: Transaction, rotation: SecretRotation, deleteSecrets: boolean): Promise<boolean> {
    const kind = this.kinds.of(rotation.type);
    const held = await credentialsOf(tx, rotation);
    // For a kind with one valid credential at a time, the other slot is invalid already.
    const live = held.filter(({ slot }) => kind.overlaps || slot === rotation.activeIndex);
    if (rotation.status === 'deleting') {
      await oweAll(tx, rotation, []);
      return true;
    }
    if (live.length === 0) {
      await end(tx, rotation, deleteSecrets);
      return false;
    }
    tx.em.assign(rotation, { status: 'deleting', isDeletingSecrets: deleteSecrets, nextRotationAt: null });
    await flush(tx);
    await oweAll(
      tx,
      rotation,
      live.map(({ credential }) => credential),
    );
    await tx.auditTrail.recordChange(tx, {
      action: 'secret-rotation:begin-delete',
      projectId: rotation.projectId,
      facts: { rotationId: rotation.id, deletesSecrets: deleteSecrets, revokes: true },
    });
    return true;
  }

  async #begin(
    ctx: Context,
    {
      named,
      wait,
      reason,
    }: {
      readonly named: { readonly id: string; readonly type?: SecretRotation['type'] | null | undefined };
      readonly wait: boolean;
      readonly reason: AttemptReason;
    },
  ): Promise<Rotated> {
    const { rotation: view } = await this.access.load(ctx, named, 'secret-rotation:rotate-secrets');
    const kind = this.kinds.of(view.type);
    const isUndecided = view.status === 'needs_reconciliation';
    if (reason === 'reconciliation' && !isUndecided && !kind.mayReset?.(view.parameters))
      throw new AppError('ROTATION_NOT_RECONCILABLE');
    const attemptId = await inTransaction(ctx, async (tx) => {
      const rotation = await lockRow(tx, SecretRotation, { id: view.id }, 'SECRET_ROTATION_NOT_FOUND');
      refuseBusy(rotation);
      if (rotation.status === 'needs_reconciliation' && reason !== 'reconciliation')
        throw new AppError('ROTATION_UNDECIDED');
      const connection = await openConnection(tx, rotation.connectionId);
      const begun = await beginAttempt(tx, { rotation, kind, connection, reason, actor: tx.actor });
      if (begun === null) throw running('id');
      await tx.auditTrail.recordChange(tx, {
        action: 'secret-rotation:begin',
        projectId: rotation.projectId,
        facts: { rotationId: rotation.id, attemptId: begun, reason },
      });
      return begun;
    });
    if (wait) await waitForAttempt(ctx, attemptId, 'id');
    const attempt = await loadRow(ctx, findAttempts, { ids: [attemptId] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
    return { rotation: await shown(ctx, view.id), attempt };
  }
}

const GIVEN_UP =
  'The lookup of the result of the call was abandoned: it is unknown which password is valid. Reconcile the rotation when the server is available again.';

/** Removes a rotation; its external credentials are not changed. */
async function end(tx: Transaction, rotation: SecretRotation, deleteSecrets: boolean): Promise<void> {
  const { id: rotationId, projectId } = rotation;
  await releaseRotated(tx, rotation, { rotationId, isDeleting: deleteSecrets });
  tx.em.remove(rotation);
  await flush(tx);
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:delete',
    projectId,
    facts: { rotationId, deletesSecrets: deleteSecrets, revokes: false },
  });
}
