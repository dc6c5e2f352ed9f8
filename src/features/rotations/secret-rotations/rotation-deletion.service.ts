import { setTimeout as delay } from 'node:timers/promises';
import { raw as sql } from '@mikro-orm/core';
import { StoredAuditRecord } from '../../../kernel/audit/audit.entity.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { refusalOf, type TargetCode, TargetFailure } from '../app-connections/public.js';
import { credentialsOf } from './engine/work.js';
import type { Credential, RotationKind } from './kind/rotation-kind.js';
import type { Kinds } from './kinds/kinds.js';
import { listCredentialsLeft, type ShownRevocation } from './revocations/live-credentials.js';
import {
  deleteRotation,
  enqueueRevocations,
  giveUpRevocations,
  scheduleRevocation,
} from './revocations/revocations.js';
import { DeleteRotation } from './rotation.rules.js';
import { inRotationTransaction, RotationAccess, type ShownRotation, withMessages } from './rotation-access.js';
import { PendingRevocation } from './store/pending-revocation.entity.js';
import { listRevocationsOfDeletion } from './store/pending-revocation.queries.js';
import type { SecretRotation } from './store/rotation.entity.js';

/** A deleted rotation. */
interface Deleted {
  readonly rotation: ShownRotation;
  /** Credentials that may still be valid, because this call ended their revocation. */
  readonly givenUp: readonly ShownRevocation[];
  /** Published credentials that stay valid because they were not to be revoked, as texts. */
  readonly left: readonly string[];
}

/** Deletes rotations. */
export class RotationDeletionService {
  private readonly access: RotationAccess;

  constructor(
    projects: ProjectReader,
    private readonly kinds: Kinds,
  ) {
    this.access = new RotationAccess(projects);
  }

  /**
   * Deletes a rotation. With `revokeGeneratedCredentials` its credentials are revoked first; the rotation stays until they are known to be
   * revoked, and the call can be repeated. Without it, the revocations of a rotation that is being deleted are given up.
   *
   * @param raw unvalidated input
   * @returns the deleted rotation, the credentials whose revocation was given up, and those that were not to be revoked
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, SECRET_ROTATION_NOT_FOUND, AUDIT_UNAVAILABLE, ROTATION_RUNNING; UPSTREAM_REJECTED,
   *   UPSTREAM_UNREACHABLE if a revocation failed; REVOCATION_GIVEN_UP
   * Source: operation 17 of the specification.
   */
  async delete(ctx: Context, raw: unknown): Promise<Deleted> {
    const { deleteSecrets, revokeGeneratedCredentials, ...ref } = parse(DeleteRotation, raw);
    const { isRevoking, ...deleted } = await inRotationTransaction(ctx, ref.id, async (tx) => {
      const { view, rotation, project } = await this.access.lock(tx, ref, 'secret-rotation:delete');
      const [shown] = await withMessages(tx, [view]);
      if (rotation.status === 'in_progress') throw new AppError('ROTATION_RUNNING');
      const before = shown as ShownRotation;
      if (revokeGeneratedCredentials && (await this.#revoke(tx, rotation, deleteSecrets)))
        return { rotation: before, isRevoking: true, givenUp: [], left: [] };
      const isDeleting = rotation.status === 'deleting';
      const givenUp = isDeleting ? await this.#giveUp(tx, rotation) : [];
      const left = isDeleting ? null : await listCredentialsLeft(tx, this.kinds, { project, rotationId: rotation.id });
      if (left !== null)
        await deleteRotation(tx, rotation, { deletesSecrets: deleteSecrets, revokes: false, ...left.facts });
      return { rotation: before, isRevoking: false, givenUp, left: left?.readable ?? [] };
    });
    if (isRevoking) await untilRevoked(ctx, deleted.rotation.id);
    return deleted;
  }

  /** Ends a deletion that waits for revocations. */
  async #giveUp(tx: Transaction, rotation: SecretRotation): Promise<ShownRevocation[]> {
    return giveUpRevocations(tx, this.kinds, await listRevocationsOfDeletion(tx, { rotationId: rotation.id }));
  }

  /** Begins to revoke the credentials of a rotation. @returns false if none can be valid */
  async #revoke(tx: Transaction, rotation: SecretRotation, deleteSecrets: boolean): Promise<boolean> {
    const kind = this.kinds.of(rotation.type);
    if (rotation.status === 'deleting') {
      await scheduleRevocations(tx, rotation, { kind, credentials: [] });
      return true;
    }
    const credentials = await credentialsOf(tx, rotation);
    // For a kind with one valid credential at a time, the other slot is invalid already.
    const live = credentials.filter(({ slot }) => kind.overlaps || slot === rotation.activeIndex);
    if (live.length === 0) return false;
    tx.em.assign(rotation, { status: 'deleting', isDeletingSecrets: deleteSecrets, nextRotationAt: null });
    await flush(tx);
    await scheduleRevocations(tx, rotation, { kind, credentials: live.map(({ credential }) => credential) });
    await tx.auditTrail.recordChange(tx, {
      action: 'secret-rotation:begin-delete',
      projectId: rotation.projectId,
      facts: { rotationId: rotation.id, deletesSecrets: deleteSecrets, revokes: true },
    });
    return true;
  }
}

const PAUSE_MS = 50;
/** Time limit, shorter than that of a request. */
const LONGEST_MS = 25_000;

/** Revokes the credentials of a rotation that is being deleted; older pending revocations are retried at once. */
async function scheduleRevocations(
  tx: Transaction,
  rotation: SecretRotation,
  { kind, credentials }: { readonly kind: RotationKind; readonly credentials: readonly Credential[] },
): Promise<void> {
  const { id: rotationId } = rotation;
  for (const credential of credentials)
    await scheduleRevocation(tx, rotation, { reason: 'deletion', credential, kind });
  await tx.em.nativeUpdate(PendingRevocation, { rotationId }, { nextAt: sql('now()'), errorCode: null });
  await enqueueRevocations(tx, rotation, true);
}

/**
 * Waits until a rotation is deleted and its credentials are revoked.
 *
 * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE, ROTATION_CONTINUES; REVOCATION_GIVEN_UP if another caller gave one up
 */
async function untilRevoked(ctx: Context, rotationId: string): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (performance.now() < end) {
    const revocations = await emOf(ctx).find(
      PendingRevocation,
      { rotationId, reason: 'deletion' },
      { orderBy: { id: 'asc' } },
    );
    if (revocations.length === 0) return refuseGivenUp(ctx, rotationId);
    // The call began with none that had failed.
    const failed = revocations.find(({ errorCode }) => errorCode != null);
    if (failed !== undefined) throw refusalOf(failureOf(failed.errorCode ?? ''), 'id');
    await delay(PAUSE_MS);
  }
  throw new AppError('ROTATION_CONTINUES');
}

async function refuseGivenUp(ctx: Context, rotationId: string): Promise<void> {
  const action = 'secret-rotation:give-up-debt';
  const givenUp = { subjectId: rotationId, action, facts: { reason: 'deletion' } };
  if ((await emOf(ctx).count(StoredAuditRecord, givenUp)) > 0) throw new AppError('REVOCATION_GIVEN_UP');
}

const failureOf = (code: string): TargetFailure => new TargetFailure(code as TargetCode, 'unknown');
