import { setTimeout as delay } from 'node:timers/promises';
import { raw as sql } from '@mikro-orm/core';
import { type Actor, type Context, isTransaction, type Transaction } from '../../../../kernel/context.js';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { AppError } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/ids.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import { AppConnection, refusalOf, type TargetCode, TargetFailure } from '../../app-connections/public.js';
import type { Credential, RotationKind } from '../kind/rotation-kind.js';
import { type AttemptReason, SecretRotationAttempt } from '../store/attempt.entity.js';
import { type AttemptRow, findAttempts } from '../store/attempt.queries.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { openMessage, sealCredential, sealTexts } from '../store/sealing.js';
import { ACCOUNT_ROTATED } from './outcomes.js';

/** The job that carries out started rotations. */
export const ROTATE_JOB = {
  name: 'secret-rotations:rotate',
  description: 'Carries out one rotation, from the state of an earlier run.',
} as const;

/** What an attempt starts with. */
interface Beginning {
  readonly rotation: SecretRotation;
  readonly kind: RotationKind;
  readonly reason: AttemptReason;
  readonly actor: Pick<Actor, 'kind' | 'id'>;
  /** Whether nobody waits for it: it leaves the urgent slots of jobs to others. */
  readonly isInBackground?: boolean;
  /** Given only at creation. */
  readonly temporary?: Readonly<Record<string, SealedText>> | null;
  /** An existing credential that is only to be published. */
  readonly adopted?: Credential;
}

/**
 * Starts an attempt of a locked rotation that has none. Commits the intent and the candidate before the external system is called, and
 * queues the job.
 *
 * @returns the ID of the attempt; null if another open attempt changes the same account
 */
export async function beginAttempt(
  tx: Transaction,
  { rotation, kind, reason, actor, isInBackground = false, temporary = null, adopted }: Beginning,
): Promise<string | null> {
  const { id: rotationId, organizationId, projectId } = rotation;
  const scope = { organizationId, projectId };
  const id = newId();
  const number = rotation.attempts + 1;
  const name = nameOf(rotation, number, 0);
  const at = { table: 'secret_rotation_attempt', rowId: id, rowVersion: 0 } as const;
  const candidate = adopted ?? (await candidateOf(tx, { kind, rotation, name }));
  const attempt = {
    ...{ id, ...scope, rotationId, number, reason, name, actorKind: actor.kind, actorId: actor.id },
    state: adopted === undefined ? ('planned' as const) : ('changed' as const),
    candidateSealed: await sealCredential(tx, scope, { ...at, column: 'candidate' }, candidate),
    resultSealed: adopted === undefined ? null : await sealCredential(tx, scope, { ...at, column: 'result' }, adopted),
    temporarySealed: temporary === null ? null : await sealTexts(tx, scope, { ...at, column: 'temporary' }, temporary),
    exclusive: rotation.accountDigest ?? null,
  };
  const { affectedRows } = await tx.em
    .createQueryBuilder(SecretRotationAttempt)
    .insert(attempt)
    .onConflict(sql('(exclusive) where ended_at is null'))
    .ignore()
    .execute('run');
  if (affectedRows === 0) return null;
  tx.em.assign(rotation, { attempts: number, status: 'in_progress', lastAttemptId: id, requestedAt: null });
  await flush(tx);
  const called = await tx.em.findOne(AppConnection, { id: rotation.connectionId }, { fields: ['target'] });
  const request = { key: rotationId, subjectId: rotationId, ...scope, target: called?.target };
  await enqueueStanding(tx, ROTATE_JOB, [{ ...request, isUrgent: !isInBackground }]);
  return id;
}

/** A new candidate from the current parameters of the rotation. */
export async function candidateOf(
  tx: Transaction,
  {
    kind,
    rotation: { organizationId, parameters },
    name,
  }: {
    readonly kind: RotationKind;
    readonly rotation: Pick<SecretRotation, 'organizationId' | 'parameters'>;
    readonly name: string;
  },
): Promise<Credential> {
  return kind.candidate((await kind.resolve?.(tx, organizationId, parameters)) ?? parameters, name);
}

/** External name of a candidate. A name is never reused. */
export const nameOf = ({ id }: Pick<SecretRotation, 'id'>, number: number, version: number): string =>
  `${id.slice(0, 8)}-${number}${version === 0 ? '' : `.${version}`}`;

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Time limit, shorter than that of a request. */
const LONGEST_MS = 25_000;

/**
 * Waits until an attempt has ended, and returns if it succeeded.
 *
 * @param path path in the request of what the external system rejected
 * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE if it failed, is undecided, or its result is still being looked up;
 *   SECRET_ROTATION_NOT_FOUND if it was deleted; ROTATION_CONTINUES if it takes longer than a request; ROTATION_CANCELLED
 */
export async function waitForAttempt(ctx: Context, attemptId: string, path: string): Promise<void> {
  if (isTransaction(ctx)) throw new Error('waiting for an attempt inside a transaction');
  const end = performance.now() + LONGEST_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < end; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const [attempt] = await findAttempts(ctx, { ids: [attemptId] });
    if (attempt === undefined) throw new AppError('SECRET_ROTATION_NOT_FOUND');
    if (attempt.state === 'succeeded') return;
    if (attempt.state === 'cancelled') throw new AppError('ROTATION_CANCELLED');
    // Looking up an unknown result may take long: it continues without the caller.
    if (attempt.endedAt !== null || (attempt.state === 'calling' && attempt.tries > 0))
      throw await refusalFor(ctx, attempt, path);
    await delay(pauseMs);
  }
  throw new AppError('ROTATION_CONTINUES');
}

/** The error of an attempt that did not succeed. */
async function refusalFor(ctx: Context, attempt: AttemptRow, path: string): Promise<AppError> {
  const { errorCode, messageSealed } = attempt;
  if (errorCode === ACCOUNT_ROTATED.code) return new AppError(ACCOUNT_ROTATED.code);
  const message = messageSealed === null ? undefined : await openMessage(ctx, attempt, messageSealed);
  return refusalOf(new TargetFailure((errorCode ?? 'TARGET_REJECTED') as TargetCode, 'unchanged', message), path);
}
