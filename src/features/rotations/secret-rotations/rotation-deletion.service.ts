import { setTimeout as delay } from 'node:timers/promises';
import { raw as sql } from '@mikro-orm/core';
import { StoredAuditRecord } from '../../../kernel/audit/audit.entity.js';
import { type Action, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { canAt, refusalOf, type TargetCode, TargetFailure } from '../app-connections/public.js';
import { credentialsOf } from './engine/work.js';
import type { Credential, RotationKind } from './kind/rotation-kind.js';
import type { Kinds } from './kinds/kinds.js';
import { credentialsLeft, type ShownDebt, shownDebts } from './revocations/live-credentials.js';
import { deleteRotation, enqueueRevocations, giveUp, scheduleRevocation } from './revocations/revocations.js';
import { DeleteRotation, GiveUpDebts, ListDebts } from './rotation.rules.js';
import { inTurnOf, RotationAccess, type ShownRotation, withMessages } from './rotation-access.js';
import { CredentialDebt } from './store/debt.entity.js';
import { type DebtRow, findDebts, listDebts, listDebtsOfDeletion } from './store/debt.queries.js';
import type { SecretRotation } from './store/rotation.entity.js';

/** A deleted rotation. */
interface Deleted {
  readonly rotation: ShownRotation;
  /** Credentials that may still be valid, because this call ended their revocation. */
  readonly givenUp: readonly ShownDebt[];
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
    const { isRevoking, ...deleted } = await inTurnOf(ctx, ref.id, async (tx) => {
      const { view, rotation, project } = await this.access.lock(tx, ref, 'secret-rotation:delete');
      const [shown] = await withMessages(tx, [view]);
      if (rotation.status === 'in_progress') throw new AppError('ROTATION_RUNNING');
      const before = shown as ShownRotation;
      if (revokeGeneratedCredentials && (await this.#revoke(tx, rotation, deleteSecrets)))
        return { rotation: before, isRevoking: true, givenUp: [], left: [] };
      const isDeleting = rotation.status === 'deleting';
      const givenUp = isDeleting ? await this.#giveUp(tx, rotation) : [];
      const left = isDeleting ? null : await credentialsLeft(tx, this.kinds, { project, rotationId: rotation.id });
      if (left !== null)
        await deleteRotation(tx, rotation, { deletesSecrets: deleteSecrets, revokes: false, ...left.facts });
      return { rotation: before, isRevoking: false, givenUp, left: left?.readable ?? [] };
    });
    if (isRevoking) await untilRevoked(ctx, deleted.rotation.id);
    return deleted;
  }

  /** Ends a deletion that waits for revocations. */
  async #giveUp(tx: Transaction, rotation: SecretRotation): Promise<ShownDebt[]> {
    return giveUp(tx, this.kinds, await listDebtsOfDeletion(tx, { rotationId: rotation.id }));
  }

  /** Begins to revoke the credentials of a rotation. @returns false if none can be valid */
  async #revoke(tx: Transaction, rotation: SecretRotation, deleteSecrets: boolean): Promise<boolean> {
    const kind = this.kinds.of(rotation.type);
    if (rotation.status === 'deleting') {
      await scheduleRevocations(tx, rotation, { kind, credentials: [] });
      return true;
    }
    const held = await credentialsOf(tx, rotation);
    // For a kind with one valid credential at a time, the other slot is invalid already.
    const live = held.filter(({ slot }) => kind.overlaps || slot === rotation.activeIndex);
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

/** Revokes the credentials of a rotation that is being deleted; older debts are retried at once. */
async function scheduleRevocations(
  tx: Transaction,
  rotation: SecretRotation,
  { kind, credentials }: { readonly kind: RotationKind; readonly credentials: readonly Credential[] },
): Promise<void> {
  const { id: rotationId } = rotation;
  for (const credential of credentials)
    await scheduleRevocation(tx, rotation, { reason: 'deletion', credential, kind });
  await tx.em.nativeUpdate(CredentialDebt, { rotationId }, { nextAt: sql('now()'), errorCode: null });
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
    const debts = await emOf(ctx).find(CredentialDebt, { rotationId, reason: 'deletion' }, { orderBy: { id: 'asc' } });
    if (debts.length === 0) return refuseGivenUp(ctx, rotationId);
    // The call began with none that had failed.
    const failed = debts.find(({ errorCode }) => errorCode != null);
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

/**
 * Credentials that are still to be revoked.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class DebtService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly kinds: Kinds,
  ) {}

  /** Those of rotations that the caller can read, newest first: of a project, of a connection, or of the organization. @throws PROJECT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<Page<ShownDebt>> {
    const { projectId: requested, connectionId, ...request } = parse(ListDebts, raw);
    const action = 'secret-rotation:read';
    const { time, id: afterId, limit } = timePageBounds(request);
    const projectId = requested == null ? null : (await this.projects.authorized(ctx, requested, action)).projectId;
    const ofConnection = connectionId == null || isId(connectionId) ? (connectionId ?? null) : NO_ID;
    const { organizationId } = ctx;
    const rows = await listDebts(ctx, { organizationId, projectId, connectionId: ofConnection });
    const projects = await this.#projectsOf(ctx, rows);
    const allowed = rows.filter((row) => isAllowed(projects.get(row.projectId), action, row));
    const rest = time === null ? allowed : allowed.filter((row) => isAfter(row, { time, id: afterId ?? '' }));
    const shown = await shownDebts(ctx, this.kinds, limit === null ? rest : rest.slice(0, limit), { isReading: true });
    const page = new Page(shown, request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-rotation:list-debts',
      projectId,
      facts: { count: page.nodes.length },
    });
    return page;
  }

  /**
   * Stops revoking credentials. They may stay valid in the external system.
   *
   * @returns those that were given up
   * @throws CREDENTIAL_DEBT_NOT_FOUND if one was revoked or given up already
   */
  async giveUp(ctx: Context, raw: unknown): Promise<ShownDebt[]> {
    const ids = parse(GiveUpDebts, raw).ids.map((id) => id.toLowerCase());
    const { organizationId } = ctx;
    return inTransaction(ctx, async (tx) => {
      const rows = await findDebts(tx, { organizationId, ids: ids.filter(isId) });
      const projects = await this.#projectsOf(tx, rows);
      const known = new Map(rows.flatMap((row) => (projects.has(row.projectId) ? [[row.id, row] as const] : [])));
      if (ids.some((id) => !known.has(id))) throw new AppError('CREDENTIAL_DEBT_NOT_FOUND');
      const action = 'secret-rotation:delete';
      for (const row of known.values())
        if (!isAllowed(projects.get(row.projectId), action, row))
          throw new PermissionDenied({ action, projectId: row.projectId });
      const given = await giveUp(tx, this.kinds, [...known.values()]);
      if (given.length < known.size) throw new AppError('CREDENTIAL_DEBT_NOT_FOUND');
      return given;
    });
  }

  #projectsOf(ctx: Context, rows: readonly DebtRow[]): Promise<ReadonlyMap<string, ProjectAccess>> {
    return this.projects.listOwning(
      ctx,
      rows.map(({ projectId }) => projectId),
    );
  }
}

/** Newest first. */
function isAfter({ createdAt, id }: DebtRow, after: { readonly time: string; readonly id: string }): boolean {
  const time = createdAt.toISOString();
  return time === after.time ? id < after.id : time < after.time;
}

const isAllowed = (project: ProjectAccess | undefined, action: Action, row: DebtRow): boolean =>
  project !== undefined && canAt(project.ability, action, row);
