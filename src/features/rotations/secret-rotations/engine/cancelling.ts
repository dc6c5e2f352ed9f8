import type { Transaction } from '../../../../kernel/context.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../../kernel/database/now.sql.js';
import { loadRow } from '../../../../kernel/database/rows.js';
import { AppError } from '../../../../kernel/errors.js';
import { NO_ID } from '../../../../kernel/ids.js';
import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import type { ShownRevocation } from '../revocations/live-credentials.js';
import { type AttemptRow, findAttempts, findOpenAttempt, secondsToSettle } from '../store/attempt.queries.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { lockRotation } from '../store/rotation.sql.js';
import {
  abandonAttempt,
  changeAttemptState,
  GRACE_SECONDS,
  isStillUndecided,
  nextOf,
  removeNewRotation,
} from './outcomes.js';

/** An open attempt of a locked rotation. */
interface Open {
  readonly kinds: Kinds;
  readonly rotation: SecretRotation;
  readonly attempt: AttemptRow;
}

/**
 * Ends an attempt whose external system was not called. If it was, and the result cannot be looked up, it ends without a result: an
 * external system that never comes back must not block its rotation forever.
 *
 * @param isForced also while the call may still be running
 * @returns credentials that it may have created, and that are still to be revoked
 * @throws ROTATION_ATTEMPT_BEGUN while the call is running, and after the result is known
 */
export async function cancelAttempt(
  tx: Transaction,
  { kinds, rotation, attempt, isForced = false }: Open & { readonly isForced?: boolean },
): Promise<ShownRevocation[]> {
  if (await cancelPlanned(tx, rotation, attempt)) return [];
  const { id: rotationId } = rotation;
  const now = await loadRow(tx, findAttempts, { ids: [attempt.id] }, 'SECRET_ROTATION_ATTEMPT_NOT_FOUND');
  const isOver = isForced || now.tries > 0 || (await hasCallEnded(tx, kinds, rotation, now));
  if (now.state !== 'calling' || !isOver) throw new AppError('ROTATION_ATTEMPT_BEGUN');
  const message = kinds.of(rotation.type).overlaps ? GIVEN_UP : UNDECIDED;
  return abandonAttempt(tx, { kinds, rotationId, reason: { code: now.errorCode ?? 'TARGET_UNREACHABLE', message } });
}

/** What happens to a rotation whose job is cancelled: it would stay as it is, and nobody could rotate or delete it. */
export const cancelWithJob =
  (kinds: Kinds): NonNullable<JobKind['onCancel']> =>
  async (tx, { subjectId }) => {
    const rotation = await lockRotation(tx, subjectId ?? NO_ID);
    if (rotation === null) return;
    if (rotation.requestedAt != null) {
      tx.em.assign(rotation, { requestedAt: null });
      await flush(tx);
    }
    const [attempt] = await findOpenAttempt(tx, { rotationId: rotation.id });
    if (attempt === undefined) return;
    if (attempt.state === 'changed' || attempt.state === 'verified') throw new AppError('JOB_IS_NEEDED', PUBLISHES);
    await cancelAttempt(tx, { kinds, rotation, attempt, isForced: true });
  };

/** @returns false if the external system was called */
async function cancelPlanned(tx: Transaction, rotation: SecretRotation, attempt: AttemptRow): Promise<boolean> {
  const { id: rotationId, projectId } = rotation;
  const cancelled = { ...attempt, rotationId };
  if (!(await changeAttemptState(tx, { attempt: cancelled }, 'cancelled'))) return false;
  const isUndecided = await isStillUndecided(tx, { attempt: cancelled });
  if (rotation.generation === 0 && !isUndecided) await removeNewRotation(tx, rotation);
  else {
    const now = await databaseNow(tx);
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
  return true;
}

/** Whether the call of an attempt can no longer take effect: nobody may be there to look up its result. */
async function hasCallEnded(
  tx: Transaction,
  kinds: Kinds,
  { type }: SecretRotation,
  { id, calledAt }: AttemptRow,
): Promise<boolean> {
  const afterSeconds = kinds.of(type).callSeconds + GRACE_SECONDS;
  const [left] = calledAt === null ? [] : await secondsToSettle(tx, { id, afterSeconds });
  return left?.seconds === 0;
}

const UNDECIDED =
  'The lookup of the result of the call was abandoned: it is unknown which password is valid. Reconcile the rotation when the server is available again.';
const GIVEN_UP =
  'The lookup of the result of the call was abandoned. A credential that the call may have created is revoked when the external system responds: see credentialDebts.';
const PUBLISHES =
  'The external system has already created the new credential. The job publishes it, or gives it up after some minutes.';
