import { LockMode, raw as sql } from '@mikro-orm/core';
import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { AppError } from '../../../../kernel/errors.js';
import { NO_ID, newId } from '../../../../kernel/ids.js';
import {
  type Again,
  type JobKind,
  type JobRun,
  targetPauseSeconds,
  WAIT_FOR_KEY,
} from '../../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import { notifyOfLiveCredentials } from '../../../notifications/project-notices/public.js';
import { releaseRotated } from '../../../secrets/public.js';
import {
  AppConnection,
  CalledTarget,
  digestOfAccount,
  openConnection,
  type TargetFailure,
} from '../../app-connections/public.js';
import { type Credential, failureOf, type RotationKind, type RotationTarget } from '../kind/rotation-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import { PendingRevocation, type PendingRevocationReason } from '../store/pending-revocation.entity.js';
import {
  deletePendingRevocations,
  findPendingRevocations,
  listDueRevocations,
  type PendingRevocationRow,
  secondsToNextRevocation,
} from '../store/pending-revocation.queries.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { lockRotation } from '../store/rotation.sql.js';
import { openCredential, sealCredential } from '../store/sealing.js';
import { credentialText, type ShownRevocation, showRevocations } from './live-credentials.js';

/** The job that revokes the credentials of a connection that are still to be revoked. */
export const REVOKE_CREDENTIALS = {
  name: 'secret-rotations:pay-debts',
  description: 'Revokes credentials that are no longer used, and retries until they are known to be revoked.',
} as const;

/** A credential to revoke. */
type NewRevocation = { readonly reason: PendingRevocationReason } & (
  | {
      readonly credential: Credential;
      readonly kind: Pick<RotationKind, 'app' | 'loginOf'>;
      readonly name?: undefined;
      readonly settlesInSeconds?: undefined;
    }
  /** A credential that may exist under a name, and cannot be known to be gone before a time. */
  | {
      readonly credential?: undefined;
      readonly kind?: undefined;
      readonly name: string;
      readonly settlesInSeconds: number;
    }
);

/** Stores a pending revocation of a locked rotation and queues its revocation after the commit. @returns its ID */
export async function scheduleRevocation(
  tx: Transaction,
  { id: rotationId, organizationId, projectId, connectionId, type, parameters }: SecretRotation,
  { reason, credential, kind, name, settlesInSeconds = 0 }: NewRevocation,
): Promise<string> {
  const scope = { organizationId, projectId };
  const id = newId();
  const at = { table: 'credential_debt', column: 'credential', rowId: id, rowVersion: 1 } as const;
  const account = credential === undefined ? null : (kind.loginOf?.(credential) ?? null);
  await tx.em.insert(PendingRevocation, {
    ...{ id, ...scope, rotationId, connectionId, type, reason, parameters, name: name ?? null },
    credentialSealed: credential === undefined ? null : await sealCredential(tx, scope, at, credential),
    accountDigest: kind === undefined ? null : await digestOfAccount(tx, kind.app, account),
    settledAt: sql('now() + make_interval(secs => ?)', [settlesInSeconds]),
  });
  await enqueueRevocations(tx, { connectionId, organizationId });
  return id;
}

/** Queues the revocation of what a connection has to revoke. @param isUrgent somebody waits for it */
export async function enqueueRevocations(
  tx: Transaction,
  { connectionId, organizationId }: Pick<SecretRotation, 'connectionId' | 'organizationId'>,
  isUrgent = false,
): Promise<void> {
  const called = await tx.em.findOne(AppConnection, { id: connectionId }, { fields: ['target'] });
  const request = { key: connectionId, subjectId: connectionId, organizationId, target: called?.target, isUrgent };
  await enqueueStanding(tx, REVOKE_CREDENTIALS, [request]);
}

/**
 * Stops revoking credentials, which may stay valid. The audit trail and a notice to the project list them. Rotations whose deletion
 * waited only for these are deleted.
 *
 * @returns those that were still to be revoked
 */
export async function giveUpRevocations(
  tx: Transaction,
  kinds: Kinds,
  rows: readonly PendingRevocationRow[],
): Promise<ShownRevocation[]> {
  const rotationIds = [...new Set(rows.map(({ rotationId }) => rotationId))].sort();
  // Before their pending revocations, as by everybody else.
  const rotations = await tx.em.find(
    SecretRotation,
    { id: { $in: rotationIds } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
  );
  const forgotten = new Set(
    (await deletePendingRevocations(tx, { ids: rows.map(({ id }) => id) })).map(({ id }) => id),
  );
  const given = await showRevocations(
    tx,
    kinds,
    rows.filter(({ id }) => forgotten.has(id)),
  );
  for (const some of Map.groupBy(given, ({ projectId }) => projectId).values()) await recordGivenUp(tx, some);
  await endDeletions(tx, rotations, { revokes: false });
  return given;
}

/** Deletes those of locked rotations that are being deleted and have nothing to revoke any more. */
async function endDeletions(
  tx: Transaction,
  rotations: readonly SecretRotation[],
  { revokes }: { readonly revokes: boolean },
): Promise<void> {
  const deleting = rotations.filter(({ status }) => status === 'deleting');
  if (deleting.length === 0) return;
  const rotationId = { $in: deleting.map(({ id }) => id) };
  const open = await tx.em.find(PendingRevocation, { rotationId, reason: 'deletion' }, { fields: ['rotationId'] });
  const waiting = new Set(open.map((revocation) => revocation.rotationId));
  for (const rotation of deleting)
    if (!waiting.has(rotation.id))
      await deleteRotation(tx, rotation, { deletesSecrets: rotation.isDeletingSecrets, revokes });
}

/** Deletes a rotation; its credentials in the external system are not changed. @param facts for the audit record */
export async function deleteRotation(
  tx: Transaction,
  rotation: SecretRotation,
  facts: AuditFacts & { readonly deletesSecrets: boolean; readonly revokes: boolean },
): Promise<void> {
  const { id: rotationId, projectId } = rotation;
  await releaseRotated(tx, rotation, { rotationId, isDeleting: facts.deletesSecrets });
  tx.em.remove(rotation);
  await flush(tx);
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:delete',
    projectId,
    facts: { rotationId, ...facts },
  });
}

/** Of one project. */
async function recordGivenUp(tx: Transaction, given: readonly ShownRevocation[]): Promise<void> {
  const [first] = given;
  if (first === undefined) return;
  const { id: subjectId, organizationId, projectId } = first;
  const names = [...new Set(given.map(({ rotationName }) => rotationName ?? 'a deleted rotation'))];
  const records = given.map((revocation) => ({
    action: 'secret-rotation:give-up-debt',
    projectId,
    facts: {
      rotationId: revocation.rotationId,
      debtId: revocation.id,
      reason: revocation.reason,
      credential: credentialText(revocation),
    },
  }));
  await tx.auditTrail.recordChange(tx, ...records);
  await notifyOfLiveCredentials(tx, {
    ...{ subjectId, organizationId, projectId, state: 'given-up', errorCode: null },
    name: names.join(', '),
    credentials: given.map(credentialText),
  });
}

/** Pending revocations that are read at once. */
const BATCH = 50;
/** Revoking takes up to four calls of half a minute each. */
const CALLS_SECONDS = 130;
/** How long a revocation may fail before the project is notified. */
const PATIENCE_SECONDS = 86_400;
const AGAIN_AT_ONCE: Again = { againInSeconds: 0 };

type DueRevocation = Awaited<ReturnType<typeof listDueRevocations>>[number];

const REVOCATIONS_PENDING =
  'Credentials of the connection are still to be revoked. Give them up with giveUpCredentialDebts, and the job ends.';

/** The job that revokes credentials, a standing one for each connection. */
export const revocationJob = (kinds: Kinds): JobKind => ({
  ...REVOKE_CREDENTIALS,
  concurrency: 16,
  concurrencyPerOrganization: 6,
  concurrencyPerTarget: 2,
  hasUrgentSlots: true,
  leaseSeconds: 90,
  limitSeconds: 900,
  // Only failures of the service itself throw here; a revocation that fails has its own pauses.
  retry: { firstSeconds: 10, longestSeconds: 600, attempts: 1_000_000 },
  onCancel: async (tx, { subjectId }) => {
    const [next] = await secondsToNextRevocation(tx, { connectionId: subjectId ?? NO_ID });
    if (next?.seconds != null || next?.hasLocked === true) throw new AppError('JOB_IS_NEEDED', REVOCATIONS_PENDING);
  },
  run: async (ctx, run): Promise<Again | undefined> => {
    const connectionId = run.subjectId ?? NO_ID;
    const called = await CalledTarget.of(ctx, run, CALLS_SECONDS);
    if (called.pause !== null) return called.pause;
    for (;;) {
      const revocations = await listDueRevocations(ctx, {
        connectionId,
        patienceSeconds: PATIENCE_SECONDS,
        most: BATCH,
      });
      for (const revocation of revocations) {
        run.signal.throwIfAborted();
        const since = performance.now();
        const failure = await attemptRevocation(ctx, run, { kinds, revocation });
        await called.record({ failure, since });
        if (failure === null) continue;
        await postponeRevocation(run, { kinds, revocation, failure });
        // The others wait as long as the system is left alone. Nothing of them has failed.
        if (called.isUnresponsive) return AGAIN_AT_ONCE;
      }
      if (revocations.length < BATCH) break;
    }
    const [next] = await secondsToNextRevocation(ctx, { connectionId });
    if (next?.seconds != null) return { againInSeconds: next.seconds };
    return next?.hasLocked === true ? WAIT_FOR_KEY : undefined;
  },
});

async function attemptRevocation(
  ctx: Context,
  run: JobRun,
  { kinds, revocation }: { readonly kinds: Kinds; readonly revocation: DueRevocation },
): Promise<TargetFailure | null> {
  await run.reserve(CALLS_SECONDS);
  const failure = await revokeCredential(ctx, { kinds, revocation }).then(
    () => null,
    (error: unknown) => failureOf(error),
  );
  if (failure !== null) return failure;
  // A credential that does not exist yet may still appear, until the call that may have created it can no longer take effect.
  const { id, isSettled } = revocation;
  const toWait = { errorCode: null, nextAt: sql('settled_at') };
  if (!isSettled) await run.inTransaction((tx) => tx.em.nativeUpdate(PendingRevocation, { id }, toWait));
  else await run.inTransaction((tx) => endRevocation(tx, revocation));
  return null;
}

/** Postpones a pending revocation. The project is notified once if it has failed for long. */
async function postponeRevocation(
  run: JobRun,
  {
    kinds,
    revocation: { id, tries, isOverdue },
    failure: { code: errorCode, retryAfterSeconds },
  }: { readonly kinds: Kinds; readonly revocation: DueRevocation; readonly failure: TargetFailure },
): Promise<void> {
  const pauseSeconds = targetPauseSeconds(tries + 1, retryAfterSeconds);
  await run.inTransaction(async (tx) => {
    const deferred = await tx.em.nativeUpdate(
      PendingRevocation,
      { id, nextAt: { $lte: sql('now()') } },
      { tries: sql('tries + 1'), errorCode, nextAt: sql('now() + make_interval(secs => ?)', [pauseSeconds]) },
    );
    if (deferred === 0 || !isOverdue) return;
    const { organizationId } = tx;
    const rows = await findPendingRevocations(tx, { organizationId, ids: [id] });
    for (const revocation of await showRevocations(tx, kinds, rows, { isReading: true }))
      await notifyOfLiveCredentials(tx, {
        ...{ organizationId, projectId: revocation.projectId, subjectId: id, state: 'not-revoked', errorCode },
        name: revocation.rotationName ?? 'a deleted rotation',
        credentials: [credentialText(revocation)],
      });
  });
}

async function revokeCredential(
  ctx: Context,
  { kinds, revocation }: { readonly kinds: Kinds; readonly revocation: DueRevocation },
): Promise<void> {
  const { id, organizationId, projectId, rotationId, connectionId, type, name, credentialSealed } = revocation;
  const kind = kinds.of(type);
  const parameters = (await kind.resolve?.(ctx, organizationId, revocation.parameters)) ?? revocation.parameters;
  const connection = await openConnection(ctx, connectionId);
  const target: RotationTarget = {
    ...{ rotationId, organizationId, projectId, parameters, connection },
    ...{ current: null, temporary: null },
  };
  if (credentialSealed === null) {
    if (name !== null) await kind.revokeByName?.(ctx, target, name);
    return;
  }
  const at = { table: 'credential_debt', column: 'credential', rowId: id, rowVersion: 1 } as const;
  await kind.revoke(ctx, target, await openCredential(ctx, revocation, at, credentialSealed));
}

async function endRevocation(tx: Transaction, { id, rotationId, projectId, reason }: DueRevocation): Promise<void> {
  const rotation = await lockRotation(tx, rotationId);
  if ((await tx.em.nativeDelete(PendingRevocation, { id })) === 0) return;
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:revoke',
    projectId,
    facts: { rotationId, debtId: id, reason },
  });
  if (rotation !== null) await endDeletions(tx, [rotation], { revokes: true });
}
