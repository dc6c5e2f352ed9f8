import { LockMode } from '@mikro-orm/core';
import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import type { Transaction } from '../../../../kernel/context.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { notifyOfLiveCredentials } from '../../../notifications/project-notices/public.js';
import { releaseRotated } from '../../../secrets/public.js';
import type { Kinds } from '../kinds/kinds.js';
import { CredentialDebt } from '../store/debt.entity.js';
import { type DebtRow, forgetDebts } from '../store/debt.queries.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { lineOf, type ShownDebt, shownDebts } from './shown-debts.js';

/**
 * Stops revoking credentials, which may stay valid. The audit trail and a notice to the project list them. Rotations whose deletion
 * waited only for these are deleted.
 *
 * @returns those that were still to be revoked
 */
export async function giveUp(tx: Transaction, kinds: Kinds, rows: readonly DebtRow[]): Promise<ShownDebt[]> {
  const rotationIds = [...new Set(rows.map(({ rotationId }) => rotationId))].sort();
  // Before their debts, as by everybody else.
  const rotations = await tx.em.find(
    SecretRotation,
    { id: { $in: rotationIds } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
  );
  const forgotten = new Set((await forgetDebts(tx, { ids: rows.map(({ id }) => id) })).map(({ id }) => id));
  const given = await shownDebts(
    tx,
    kinds,
    rows.filter(({ id }) => forgotten.has(id)),
  );
  for (const some of Map.groupBy(given, ({ projectId }) => projectId).values()) await recordGivenUp(tx, some);
  await endDeletions(tx, rotations, { revokes: false });
  return given;
}

/** Deletes those of locked rotations that are being deleted and have nothing to revoke any more. */
export async function endDeletions(
  tx: Transaction,
  rotations: readonly SecretRotation[],
  { revokes }: { readonly revokes: boolean },
): Promise<void> {
  const deleting = rotations.filter(({ status }) => status === 'deleting');
  if (deleting.length === 0) return;
  const rotationId = { $in: deleting.map(({ id }) => id) };
  const open = await tx.em.find(CredentialDebt, { rotationId, reason: 'deletion' }, { fields: ['rotationId'] });
  const waiting = new Set(open.map((debt) => debt.rotationId));
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
async function recordGivenUp(tx: Transaction, given: readonly ShownDebt[]): Promise<void> {
  const [first] = given;
  if (first === undefined) return;
  const { id: subjectId, organizationId, projectId } = first;
  const names = [...new Set(given.map(({ rotationName }) => rotationName ?? 'a deleted rotation'))];
  const records = given.map((debt) => ({
    action: 'secret-rotation:give-up-debt',
    projectId,
    facts: { rotationId: debt.rotationId, debtId: debt.id, reason: debt.reason, credential: lineOf(debt) },
  }));
  await tx.auditTrail.recordChange(tx, ...records);
  await notifyOfLiveCredentials(tx, {
    ...{ subjectId, organizationId, projectId, state: 'given-up', errorCode: null },
    name: names.join(', '),
    credentials: given.map(lineOf),
  });
}
