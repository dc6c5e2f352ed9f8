import { LockMode } from '@mikro-orm/core';
import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { Project, type ProjectAccess } from '../../../projects/public.js';
import { canAt, systemOf } from '../../app-connections/public.js';
import { Kinds } from '../kinds/kinds.js';
import { SecretRotationAttempt } from '../store/attempt.entity.js';
import type { PendingRevocationRow } from '../store/pending-revocation.queries.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { listLiveCredentials } from '../store/rotation.sql.js';
import { type SealedAt, sealersOf, visiblePartOf } from '../store/sealing.js';

/** A credential in an external system, as an administrator finds it there. */
interface ExternalCredential {
  /** System and account. */
  readonly target: string;
  readonly externalName: string | null;
  readonly externalId: string | null;
}

/** A credential as it is stored. */
type StoredCredential = Pick<PendingRevocationRow, 'projectId' | 'type' | 'app' | 'publicPart'> & {
  /** External name of one that may exist; null: it is sealed. */
  readonly name: string | null;
  readonly sealed: Uint8Array | null;
  /** The place that it is sealed for. */
  readonly at: SealedAt;
};

/** A credential to revoke, with what an administrator of the external system needs to find it. */
export interface ShownRevocation extends PendingRevocationRow, ExternalCredential {}

/**
 * Adds where and under which names credentials are, in at most one statement.
 *
 * @param isReading names are left out where the key is disabled; otherwise that is an error
 * @throws KEY_DISABLED
 */
async function withExternalNames<Row extends StoredCredential>(
  ctx: Context,
  kinds: Kinds,
  rows: readonly Row[],
  { isReading = false }: { readonly isReading?: boolean } = {},
): Promise<(Row & ExternalCredential)[]> {
  const sealers = await sealersOf(ctx, rows);
  return rows.map((row) => {
    const { projectId, type, name, sealed, at } = row;
    const sealer = sealers.get(projectId);
    const part = sealed === null || sealer === undefined ? null : visiblePartOf(sealer, { at, sealed, isReading });
    const label = part === null ? { name, id: null } : kinds.of(type).labelOf(part);
    return { ...row, target: systemOf(row), externalName: label.name, externalId: label.id };
  });
}

/** As `withExternalNames`, for pending revocations. @throws KEY_DISABLED */
export function showRevocations(
  ctx: Context,
  kinds: Kinds,
  rows: readonly PendingRevocationRow[],
  reading?: { readonly isReading?: boolean },
): Promise<ShownRevocation[]> {
  const stored = rows.map((row) => ({
    ...row,
    sealed: row.credentialSealed,
    at: { table: 'credential_debt', column: 'credential', rowId: row.id, rowVersion: 1 } as const,
  }));
  return withExternalNames(ctx, kinds, stored, reading);
}

/** One line for people: `https://ab1.example.com, account 7: reporting-1 (ID 9001)`. */
export const credentialText = ({ target, externalName, externalId }: ExternalCredential): string =>
  `${target}: ${[externalName, externalId === null ? null : `(ID ${externalId})`].filter((part) => part !== null).join(' ') || 'unknown name'}`;

const MOST = 100;

/** Credentials that a deletion leaves valid in external systems, as texts of limited number. */
interface CredentialsLeft {
  /** All of them, for the audit record; nothing if there are none. */
  readonly facts: AuditFacts;
  /** Those of rotations that the caller can read, and the number of others. */
  readonly readable: readonly string[];
}

/** Lists those of a rotation, or of a project with its pending revocations. */
export async function listCredentialsLeft(
  tx: Transaction,
  kinds: Kinds,
  { project, rotationId }: { readonly project: ProjectAccess; readonly rotationId: string | null },
): Promise<CredentialsLeft> {
  const overlapping = kinds.all.filter(({ overlaps }) => overlaps).map(({ type }) => type);
  const rows = await listLiveCredentials(tx, { projectId: project.projectId, rotationId, overlapping, most: MOST });
  const places = rows.map(({ table, column, rowId, rowVersion, ...row }) => ({
    ...row,
    at: { table, column, rowId, rowVersion },
  }));
  // A key that is disabled must not prevent a deletion.
  const all = await withExternalNames(tx, kinds, places, { isReading: true });
  const readable = all.filter((row) => canAt(project.ability, 'secret-rotation:read', row));
  const total = rows[0]?.total ?? 0;
  return {
    facts: total === 0 ? {} : { credentials: linesOf(all, total - rows.length) },
    readable: linesOf(readable, total - readable.length),
  };
}

/** To show credentials, which takes no call. */
const CALLING_NOTHING = new Kinds({ allowPrivateTargets: false });

/** Lists those of a project that is about to be deleted, whose rotations are locked. */
export async function listCredentialsLeftInProject(tx: Transaction, project: ProjectAccess): Promise<CredentialsLeft> {
  const { projectId } = project;
  // With rotations and open attempts locked, nothing creates or publishes a credential until the transaction ends.
  const locked = { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } } as const;
  await tx.em.find(Project, { id: projectId }, locked);
  await tx.em.find(SecretRotation, { projectId }, locked);
  await tx.em.find(SecretRotationAttempt, { projectId, endedAt: null }, locked);
  return listCredentialsLeft(tx, CALLING_NOTHING, { project, rotationId: null });
}

/** The old and the new password of an account are one line. */
function linesOf(credentials: readonly ExternalCredential[], more: number): string[] {
  const lines = [...new Set(credentials.map(credentialText))];
  return more === 0 ? lines : [...lines, `and ${more} more`];
}
