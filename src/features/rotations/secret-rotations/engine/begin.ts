import { raw as sql } from '@mikro-orm/core';
import type { Actor, Transaction } from '../../../../kernel/context.js';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { newId } from '../../../../kernel/ids.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import { AppConnection } from '../../app-connections/public.js';
import type { Credential, RotationKind } from '../kind/rotation-kind.js';
import { type AttemptReason, SecretRotationAttempt } from '../store/attempt.entity.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { sealCredential, sealTexts } from '../store/sealing.js';

/** The job that carries out started rotations. */
export const ROTATE = {
  name: 'secret-rotations:rotate',
  description: 'Carries out one rotation, from the state of an earlier run.',
} as const;

/** What an attempt starts with. */
export interface Beginning {
  readonly rotation: SecretRotation;
  readonly kind: RotationKind;
  readonly reason: AttemptReason;
  readonly actor: Pick<Actor, 'kind' | 'id'>;
  /** Whether nobody waits for it: it leaves the urgent places of jobs to others. */
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
  await enqueueStanding(tx, ROTATE, [{ ...request, isUrgent: !isInBackground }]);
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
