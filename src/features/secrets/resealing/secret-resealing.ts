import type { Feature } from '../../../feature.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { queryOf } from '../../../kernel/database/database.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { inOwnTransaction } from '../../../kernel/database/on-connection.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { AppError } from '../../../kernel/errors.js';
import {
  digestOf,
  type RowVersion,
  type Sealed,
  type SealedContents,
  type SealedPart,
  type SecretSealer,
  tableOf,
} from '../core/secret-sealing.js';
import { noteStates } from '../core/secret-states.js';
import {
  finishResealing,
  listPending,
  listResealed,
  listSized,
  lockCurrent,
  lockVersions,
  updateCurrent,
  updateVersions,
} from './secret-resealing.sql.js';

const ACTION = 'secret:reseal';
const MAX_SECRETS = 500;
const MAX_BYTES = 8 * 1024 * 1024;
const SEALS_PER_ROW = 3;

type SealedRow = RowFrom<typeof lockCurrent>;

/**
 * Reseals the secrets and versions of old databases, so that a version can no longer be decrypted in place of the
 * secret. In batches with a commit each: after an interruption the next start continues. What cannot be decrypted is
 * left as it is.
 *
 * A project is resealed once: the last batch leaves a record in the audit trail. Otherwise anybody with write access to
 * the database could list the project again and have old rows resealed.
 */
export const resealSecrets: NonNullable<Feature['upgrade']> = (kernel, contextOf, log) =>
  kernel.database.withConnection(async (ask, session) => {
    const pending = await listPending(ask, {});
    if (pending.length === 0) return;
    // These scan all rows, which may take a while.
    const resealed = await inOwnTransaction(session, () => listResealed(ask, { action: ACTION }), {
      isUnlimited: true,
    });
    const done = new Set(resealed.map(({ projectId }) => projectId));
    for (const { projectId, organizationId } of pending) {
      if (done.has(projectId)) {
        log.warn('resealing refused', { projectId });
        await finishResealing(ask, { projectId });
      } else {
        const secrets = await inOwnTransaction(session, () => listSized(ask, { projectId }), { isUnlimited: true });
        await resealProject(contextOf(organizationId), projectId, secrets);
        log.info('secrets resealed', { projectId, secrets: secrets.length });
      }
    }
  });

async function resealProject(
  ctx: Context,
  projectId: string,
  secrets: readonly RowFrom<typeof listSized>[],
): Promise<void> {
  const batches = batchesOf(secrets);
  for (const [index, ids] of batches.entries()) {
    const isLast = index === batches.length - 1;
    await inTransaction(ctx, (tx) => resealBatch(tx, projectId, { ids, isLast }));
  }
}

/** At least one, so that a project without secrets is finished too. */
function batchesOf(secrets: readonly RowFrom<typeof listSized>[]): string[][] {
  let last: string[] = [];
  const batches = [last];
  let total = 0;
  for (const { id, bytes } of secrets) {
    if (last.length === MAX_SECRETS || (last.length > 0 && total + bytes > MAX_BYTES)) {
      last = [];
      batches.push(last);
      total = 0;
    }
    last.push(id);
    total += bytes;
  }
  return batches;
}

async function resealBatch(
  tx: Transaction,
  projectId: string,
  { ids, isLast }: { ids: readonly string[]; isLast: boolean },
): Promise<void> {
  const { organizationId } = tx;
  const current = await lockCurrent(tx, { ids });
  const versions = await lockVersions(tx, { ids });
  const ofProject = await tx.keyring.sealer(queryOf(tx), { organizationId, projectId });
  const ofOrganization = await tx.keyring.sealer(queryOf(tx), { organizationId, projectId: null });
  await ofProject.reserve((current.length + versions.length) * SEALS_PER_ROW);
  const anew = (rows: readonly SealedRow[]) =>
    rows.flatMap((row) => {
      const contents = resealed({ ofProject, ofOrganization }, row);
      return contents === null ? [] : [{ id: row.id, version: row.version, ...contents }];
    });
  await updateVersions(tx, columnsOf(anew(versions)));
  const resealedRows = anew(current);
  const digests = resealedRows.map(({ valueDigest }) => valueDigest);
  noteStates(tx, await updateCurrent(tx, { ...columnsOf(resealedRows), digests }));
  if (isLast) await finishResealing(tx, { projectId });
  await tx.auditTrail.recordChange(tx, {
    action: ACTION,
    projectId,
    facts: { count: current.length, isLast },
    isKept: true,
  });
}

const columnsOf = (rows: readonly SealedRow[]) => ({
  ids: rows.map(({ id }) => id),
  versions: rows.map(({ version }) => version),
  values: rows.map(({ valueSealed }) => valueSealed),
  comments: rows.map(({ commentSealed }) => commentSealed),
  metadata: rows.map(({ metadataSealed }) => metadataSealed),
});

/** The purpose of the seals of secrets and versions in old databases. */
const FORMER_TABLE = 'secret';

type FormerContents = Readonly<Record<keyof SealedContents, Buffer | null>>;

/**
 * The contents of a row of an old database, resealed. A part that cannot be decrypted stays as it is. Takes three seals
 * at most.
 *
 * @returns null when nothing can be decrypted: the row has been resealed already, or was tampered with
 */
function resealed(
  sealer: SecretSealer,
  row: RowVersion & FormerContents,
): (FormerContents & Pick<Sealed, 'valueDigest'>) | null {
  const { ofProject } = sealer;
  let isOpened = false;
  let valueDigest: Buffer | null = null;
  const anew = (column: SealedPart, sealed: Buffer | null): Buffer | null => {
    if (sealed === null) return sealed;
    const place = { column, rowId: row.id, rowVersion: row.version };
    try {
      const text = ofProject.open({ ...place, table: FORMER_TABLE }, sealed);
      isOpened = true;
      if (column === 'value') valueDigest = digestOf(sealer, text);
      return ofProject.seal({ ...place, table: tableOf(row) }, text);
    } catch (error) {
      if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return sealed;
      throw error;
    }
  };
  const contents = {
    valueSealed: anew('value', row.valueSealed),
    commentSealed: anew('comment', row.commentSealed),
    metadataSealed: anew('metadata', row.metadataSealed),
  };
  return isOpened ? { ...contents, valueDigest } : null;
}
