import { LockMode } from '@mikro-orm/core';
import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import type { Transaction } from '../../../../kernel/context.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import { type ListCredentialsLeft, Project, type ProjectAccess } from '../../../projects/public.js';
import { canAt } from '../../app-connections/public.js';
import { Kinds } from '../kinds/kinds.js';
import { SecretRotationAttempt } from '../store/attempt.entity.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { listLeft } from '../store/rotation.sql.js';
import { lineOf, type Shown, shown } from './shown-debts.js';

const MOST = 100;

/** Credentials that a deletion leaves valid in external systems, as texts of limited number. */
export interface CredentialsLeft {
  /** All of them, for the audit record; nothing if there are none. */
  readonly facts: AuditFacts;
  /** Those of rotations that the caller can read, and the number of others. */
  readonly readable: readonly string[];
}

/** Lists those of a rotation, or of a project with its debts. */
export async function credentialsLeft(
  tx: Transaction,
  kinds: Kinds,
  { project, rotationId }: { readonly project: ProjectAccess; readonly rotationId: string | null },
): Promise<CredentialsLeft> {
  const overlapping = kinds.all.filter(({ overlaps }) => overlaps).map(({ type }) => type);
  const rows = await listLeft(tx, { projectId: project.projectId, rotationId, overlapping, most: MOST });
  const places = rows.map(({ table, column, rowId, rowVersion, ...row }) => ({
    ...row,
    at: { table, column, rowId, rowVersion },
  }));
  // A key that is disabled must not prevent a deletion.
  const all = await shown(tx, kinds, places, { isReading: true });
  const readable = all.filter((row) => canAt(project.ability, 'secret-rotation:read', row));
  const total = rows[0]?.total ?? 0;
  return {
    facts: total === 0 ? {} : { credentials: linesOf(all, total - rows.length) },
    readable: linesOf(readable, total - readable.length),
  };
}

/** Lists those of a project, whose rotations are locked. */
export const credentialsLeftOf = (policy: TargetPolicy): ListCredentialsLeft => {
  const kinds = new Kinds(policy);
  return async (tx, project) => {
    const { projectId } = project;
    // With rotations and open attempts locked, nothing creates or publishes a credential until the transaction ends.
    const locked = { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } } as const;
    await tx.em.find(Project, { id: projectId }, locked);
    await tx.em.find(SecretRotation, { projectId }, locked);
    await tx.em.find(SecretRotationAttempt, { projectId, endedAt: null }, locked);
    return credentialsLeft(tx, kinds, { project, rotationId: null });
  };
};

/** The old and the new password of an account are one line. */
function linesOf(credentials: readonly Shown[], more: number): string[] {
  const lines = [...new Set(credentials.map(lineOf))];
  return more === 0 ? lines : [...lines, `and ${more} more`];
}
