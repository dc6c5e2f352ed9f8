import { raw as sql } from '@mikro-orm/core';
import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import type { Transaction } from '../../../../kernel/context.js';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../../kernel/database/now.sql.js';
import {
  notifyOfFailedRotation,
  notifyOfLiveCredentials,
  type RotationTrouble,
} from '../../../notifications/project-notices/public.js';
import { releaseRotated, writeRotated } from '../../../secrets/public.js';
import { digestOfAccount, lockAccount } from '../../app-connections/public.js';
import { type Reason, rejectsCredentials } from '../kind/rotation-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import { credentialText, type ShownRevocation, showRevocations } from '../revocations/live-credentials.js';
import { scheduleRevocation } from '../revocations/revocations.js';
import { SecretRotationAttempt } from '../store/attempt.entity.js';
import { findOpenAttempt, findUndecided } from '../store/attempt.queries.js';
import { SecretRotationCredential } from '../store/credential.entity.js';
import { findPendingRevocations } from '../store/pending-revocation.queries.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { listAccountOwners, listDistances, lockRotation } from '../store/rotation.sql.js';
import { errorMessagePlace, sealCredential, sealText } from '../store/sealing.js';
import { type AttemptState, isFinal, statesBefore } from '../store/states.js';
import { nextRunAfter, type RotationTiming, retryAfter } from '../store/timing.js';
import { credentialAt, credentialsOf, type Work } from './work.js';

/** Other changes of an attempt when its state changes. */
interface Move {
  readonly name?: string;
  readonly candidateSealed?: Buffer;
  readonly resultSealed?: Buffer;
  /** Why it failed. Null: it did not. */
  readonly reason?: Reason | null;
}

/** Moves an attempt to a state, from any state that allows it. @returns false if it was moved concurrently */
export async function changeAttemptState(
  tx: Transaction,
  { attempt }: Pick<Work, 'attempt'>,
  state: AttemptState,
  { reason = null, ...changes }: Move = {},
): Promise<boolean> {
  // A failure that is retried keeps the state.
  const from = isFinal(state) ? statesBefore(state) : [...statesBefore(state), state];
  const moved = await tx.em.nativeUpdate(
    SecretRotationAttempt,
    { id: attempt.id, state: { $in: from } },
    {
      ...changes,
      state,
      tries: sql('case when state = ? then tries + 1 else 0 end', [state]),
      // A call whose result is looked up is the same call.
      ...(state === 'calling'
        ? {
            calls: sql(`calls + case when state = 'planned' then 1 else 0 end`),
            calledAt: sql(`case when state = 'planned' then now() else called_at end`),
          }
        : {}),
      ...(changes.name === undefined ? {} : { candidateVersion: sql('candidate_version + 1') }),
      ...(isFinal(state) ? { temporarySealed: null, endedAt: sql('now()') } : {}),
      errorCode: reason?.code ?? null,
      messageSealed:
        reason === null
          ? null
          : await sealText(tx, attempt, errorMessagePlace(attempt.id), new SealedText(reason.message)),
    },
  );
  return moved > 0;
}

/**
 * Publishes the result of an attempt: slot, mapped secrets, rotation and audit record in one transaction. The replaced credential becomes
 * a pending revocation if it still works.
 *
 * @param unverified why the new credential could not be checked; null: it works
 */
export async function completeAttempt(tx: Transaction, work: Work, unverified: Reason | null): Promise<void> {
  const { attempt, kind, result } = work;
  const rotation = await lockRotation(tx, attempt.rotationId);
  if (
    rotation === null ||
    result === null ||
    !(await changeAttemptState(tx, work, 'succeeded', { reason: unverified }))
  )
    return;
  const { organizationId, projectId } = rotation;
  const generation = rotation.generation + 1;
  const isFirst = rotation.generation === 0;
  const slot = isFirst || attempt.reason === 'reconciliation' ? rotation.activeIndex : 1 - rotation.activeIndex;
  const replaced = (await credentialsOf(tx, rotation)).find((credential) => credential.slot === slot);
  const credentialSealed = await sealCredential(tx, rotation, credentialAt(rotation.id, generation), result);
  const accountDigest = await digestOfAccount(tx, kind.app, kind.loginOf?.(result) ?? null);
  const key = { rotationId: rotation.id, slot };
  const published = { generation, credentialSealed, accountDigest };
  if (replaced === undefined)
    tx.em.create(SecretRotationCredential, { ...key, organizationId, projectId, ...published });
  else await tx.em.nativeUpdate(SecretRotationCredential, key, { ...published, createdAt: sql('now()') });
  if (replaced !== undefined && kind.overlaps)
    await scheduleRevocation(tx, rotation, { reason: 'replaced', credential: replaced.credential, kind });
  await writeRotated(tx, rotation, { rotationId: rotation.id, values: kind.secretsOf(result) });
  const now = await databaseNow(tx);
  const isManual = attempt.reason !== 'schedule';
  tx.em.assign(rotation, {
    ...{ status: 'success', activeIndex: slot, generation, failures: 0, refusals: 0, pauseReason: null },
    ...{ lastAttemptedAt: now, lastRotatedAt: now, isLastManual: isManual, updatedAt: now },
    nextRotationAt: await nextOf(tx, { ...rotation, lastRotatedAt: now, isLastManual: isManual }, now),
  });
  await flush(tx);
  await record(tx, work, 'secret-rotation:publish', {
    generation,
    ...(unverified === null ? {} : { unverified: unverified.code }),
  });
}

/**
 * Ends an attempt after which the rotation still has its previous credential. If the first attempt fails, the rotation is removed.
 * Automatic rotation continues later, or is paused after the target rejected our credentials too often.
 */
export async function failAttempt(
  tx: Transaction,
  work: Pick<Work, 'attempt' | 'kind'>,
  reason: Reason & { readonly retryAfterSeconds?: number | null },
  /** For the audit record: credentials that it may have created. */
  left: { readonly credentials?: readonly string[] } = {},
): Promise<void> {
  const rotation = await lockRotation(tx, work.attempt.rotationId);
  if (rotation === null || !(await changeAttemptState(tx, work, 'failed', { reason }))) return;
  await record(tx, work, 'secret-rotation:fail', { code: reason.code, ...left });
  if (rotation.generation === 0 && work.attempt.reason !== 'reconciliation') {
    await removeNewRotation(tx, rotation);
    return;
  }
  const now = await databaseNow(tx);
  const { retryAfterSeconds = null } = reason;
  const failures = rotation.failures + 1;
  const refusals = rejectsCredentials(reason) ? rotation.refusals + 1 : 0;
  const isPaused = refusals >= work.kind.mostRefusals || reason.code === ACCOUNT_ROTATED.code;
  const status = (await isStillUndecided(tx, work)) ? 'needs_reconciliation' : 'failed';
  const isTriedAgain = status === 'failed' && !isPaused;
  tx.em.assign(rotation, {
    ...{ status, failures, refusals, lastAttemptedAt: now, updatedAt: now },
    pauseReason: isPaused ? reason.code : rotation.pauseReason,
    nextRotationAt: isTriedAgain ? retryAfter(rotation, { at: now, failures, retryAfterSeconds }) : null,
  });
  await flush(tx);
  await notify(tx, rotation, isPaused ? 'paused' : 'failed', reason);
}

/** Ends an attempt after which it is unknown which credential is valid. Both are kept. */
export async function endUndecided(
  tx: Transaction,
  work: Pick<Work, 'attempt' | 'kind'>,
  reason: Reason,
): Promise<void> {
  const rotation = await lockRotation(tx, work.attempt.rotationId);
  if (rotation === null || !(await changeAttemptState(tx, work, 'undecided', { reason }))) return;
  const now = await databaseNow(tx);
  tx.em.assign(rotation, {
    ...{ status: 'needs_reconciliation', failures: rotation.failures + 1, lastAttemptedAt: now, updatedAt: now },
    nextRotationAt: null,
  });
  await flush(tx);
  await record(tx, work, 'secret-rotation:undecided', { code: reason.code });
  await notify(tx, rotation, 'undecided', reason);
}

/** Whether a failed reconciliation belongs to an undecided rotation, which stays undecided. */
export async function isStillUndecided(
  tx: Transaction,
  { attempt: { rotationId, reason } }: Pick<Work, 'attempt'>,
): Promise<boolean> {
  if (reason !== 'reconciliation') return false;
  const [found] = await findUndecided(tx, { rotationId });
  return found?.isUndecided === true;
}

/** Removes a rotation that never had a credential, and releases its keys. */
export async function removeNewRotation(tx: Transaction, rotation: SecretRotation): Promise<void> {
  await releaseRotated(tx, rotation, { rotationId: rotation.id, isDeleting: true });
  tx.em.remove(rotation);
  await flush(tx);
}

/** When a rotation next runs automatically, at a distance from those that it must not coincide with. */
export async function nextOf(
  tx: Transaction,
  rotation: RotationTiming & { readonly id: string; readonly projectId: string },
  now: Date,
): Promise<Date | null> {
  const others = await listDistances(tx, rotation);
  return nextRunAfter(
    rotation,
    now,
    others.flatMap(({ at, minutes }) => (at === null ? [] : [{ at, minutes }])),
  );
}

/** Notifies the project of a rotation that needs a person. */
export const notify = (
  tx: Transaction,
  { id: rotationId, organizationId, projectId, name, generation }: SecretRotation,
  trouble: RotationTrouble,
  { message }: Reason,
): Promise<void> =>
  notifyOfFailedRotation(tx, { rotationId, organizationId, projectId, name, generation, trouble, message });

const record = (
  tx: Transaction,
  { attempt, kind }: Pick<Work, 'attempt' | 'kind'>,
  action: string,
  facts: AuditFacts,
) =>
  tx.auditTrail.recordChange(tx, {
    action,
    projectId: attempt.projectId,
    facts: {
      rotationId: attempt.rotationId,
      attemptId: attempt.id,
      type: kind.type,
      reason: attempt.reason,
      requesterKind: attempt.actorKind,
      requesterId: attempt.actorId,
      ...facts,
    },
  });

/** How long after its timeout a call may still take effect. */
export const GRACE_SECONDS = 30;

/** Queues the revocation of whatever may have been created under the name of an attempt. @returns the ID of the pending revocation */
export async function scheduleOrphanRevocation(
  tx: Transaction,
  { attempt, kind }: Pick<Work, 'attempt' | 'kind'>,
): Promise<string | null> {
  const rotation = await lockRotation(tx, attempt.rotationId);
  if (rotation === null) return null;
  const name = kind.outsideName(rotation.parameters, attempt.name);
  return scheduleRevocation(tx, rotation, {
    reason: 'orphaned',
    name,
    settlesInSeconds: kind.callSeconds + GRACE_SECONDS,
  });
}

/**
 * Ends the open attempt of a rotation that cannot continue: its stored data cannot be decrypted, or the result of its call cannot be
 * looked up. Otherwise nobody could rotate or delete it. What it may have changed outside becomes a pending revocation or needs a reconciliation.
 *
 * @returns credentials that it may have created, and that are still to be revoked
 */
export async function abandonAttempt(
  tx: Transaction,
  { kinds, rotationId, reason }: { readonly kinds: Kinds; readonly rotationId: string; readonly reason: Reason },
): Promise<ShownRevocation[]> {
  const rotation = await lockRotation(tx, rotationId);
  const [attempt] = await findOpenAttempt(tx, { rotationId });
  if (rotation === null || attempt === undefined) return [];
  const work = { attempt: { ...attempt, rotationId }, kind: kinds.of(rotation.type) };
  const mayHaveChanged = attempt.state !== 'planned';
  if (mayHaveChanged && !work.kind.overlaps) {
    await endUndecided(tx, work, reason);
    return [];
  }
  const revocationId = mayHaveChanged ? await scheduleOrphanRevocation(tx, work) : null;
  const orphans = revocationId === null ? [] : await shownOf(tx, kinds, revocationId);
  for (const { organizationId, projectId, rotationName } of orphans)
    await notifyOfLiveCredentials(tx, {
      ...{ organizationId, projectId, subjectId: attempt.id, state: 'orphaned', errorCode: reason.code },
      name: rotationName ?? '',
      credentials: orphans.map(credentialText),
    });
  await failAttempt(tx, work, reason, { credentials: orphans.map(credentialText) });
  return orphans;
}

async function shownOf(tx: Transaction, kinds: Kinds, revocationId: string): Promise<ShownRevocation[]> {
  const { organizationId } = tx;
  return showRevocations(tx, kinds, await findPendingRevocations(tx, { organizationId, ids: [revocationId] }));
}

/** Why a rotation whose account another one owns does not run: each would make the password of the other invalid. */
export const ACCOUNT_ROTATED = {
  code: 'ACCOUNT_ROTATED',
  message:
    'Another rotation of the organization owns the same account. Delete one of the two, then rotate the other manually.',
} as const;

/**
 * Makes a rotation the owner of its account.
 *
 * @param account as `accountOf` of its kind returns it
 * @returns false if another rotation of the organization owns it
 */
export async function claimAccount(
  tx: Transaction,
  { rotation: { id }, kind }: { readonly rotation: { readonly id: string }; readonly kind: Pick<Work['kind'], 'app'> },
  account: SealedText,
): Promise<boolean> {
  const rotation = await lockRotation(tx, id);
  const digest = await digestOfAccount(tx, kind.app, account);
  if (rotation === null || digest === null) return true;
  await lockAccount(tx, { digest });
  const owners = await listAccountOwners(tx, { organizationId: tx.organizationId, accountDigest: digest });
  if (owners.some(({ rotationId }) => rotationId !== id)) return false;
  tx.em.assign(rotation, { accountDigest: digest });
  await flush(tx);
  return true;
}
