import type { Feature } from '../../../feature.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { query, queryOf } from '../../../kernel/database/database.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { resealed, type SealedContents } from './secret-sealing.js';
import { noteStates, secretDigest } from './secret-states.js';

const ACTION = 'secret:reseal';
const MAX_SECRETS = 500;
const MAX_BYTES = 8 * 1024 * 1024;
const SEALS_PER_ROW = 3;

interface Pending {
  readonly projectId: string;
  readonly organizationId: string;
}

interface SealedRow extends SealedContents {
  readonly id: string;
  readonly version: number;
}

/**
 * Reseals the secrets and versions of old databases, so that a version can no longer be decrypted in place of the
 * secret. In batches with a commit each: after an interruption the next start continues. What cannot be decrypted is
 * left as it is.
 *
 * A project is resealed once: the last batch leaves a record in the audit trail. Otherwise anybody with write access to
 * the database could list the project again and have old rows resealed.
 */
export const resealSecrets: NonNullable<Feature['upgrade']> = (kernel, contextOf, log) =>
  kernel.database.withConnection(async (ask) => {
    const pending = await ask<Pending>(PENDING);
    if (pending.length === 0) return;
    // These scan all rows, which may take a while.
    await ask('set statement_timeout = 0');
    try {
      const done = new Set((await ask<Pending>(DONE, [ACTION])).map(({ projectId }) => projectId));
      for (const { projectId, organizationId } of pending) {
        if (done.has(projectId)) {
          log.warn('resealing refused', { projectId });
          await ask(FINISH, [projectId]);
        } else {
          const secrets = await ask<Sized>(SECRETS, [projectId]);
          await resealProject(contextOf(organizationId), projectId, secrets);
          log.info('secrets resealed', { projectId, secrets: secrets.length });
        }
      }
    } finally {
      await ask('reset statement_timeout');
    }
  });

interface Sized {
  readonly id: string;
  readonly bytes: number;
}

const PENDING =
  'select project_id as "projectId", organization_id as "organizationId" from secret_reseal order by project_id';
const DONE = `select distinct project_id as "projectId" from audit_record where action = $1 and facts->'isLast' = 'true'`;
const FINISH = 'delete from secret_reseal where project_id = $1';

async function resealProject(ctx: Context, projectId: string, secrets: readonly Sized[]): Promise<void> {
  const batches = batchesOf(secrets);
  for (const [index, ids] of batches.entries()) {
    const isLast = index === batches.length - 1;
    await inTransaction(ctx, (tx) => resealBatch(tx, projectId, { ids, isLast }));
  }
}

/** At least one, so that a project without secrets is finished too. */
function batchesOf(secrets: readonly Sized[]): string[][] {
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
  const current = await query<SealedRow>(tx, CURRENT, [ids]);
  const versions = await query<SealedRow & { isDeletion: boolean }>(tx, VERSIONS, [ids]);
  const ofProject = await tx.keyring.sealer(queryOf(tx), { organizationId, projectId });
  const ofOrganization = await tx.keyring.sealer(queryOf(tx), { organizationId, projectId: null });
  await ofProject.reserve((current.length + versions.length) * SEALS_PER_ROW);
  const anew = (rows: readonly SealedRow[]) =>
    rows.flatMap((row) => {
      const contents = resealed({ ofProject, ofOrganization }, row);
      return contents === null ? [] : [{ id: row.id, version: row.version, ...contents }];
    });
  await query(tx, UPDATE_VERSIONS, paramsOf(anew(versions)));
  const resealedRows = anew(current);
  const params = [...paramsOf(resealedRows), resealedRows.map(({ valueDigest }) => valueDigest)];
  noteStates(tx, await query(tx, UPDATE_CURRENT, params));
  if (isLast) await query(tx, FINISH, [projectId]);
  await tx.auditTrail.recordChange(tx, {
    action: ACTION,
    projectId,
    facts: { count: current.length, isLast },
    isKept: true,
  });
}

const SECRETS = `select id, sum(bytes)::float8 as bytes from (
    select id, octet_length(value_sealed) as bytes from secret where project_id = $1
    union all select secret_id, octet_length(value_sealed) from secret_version where project_id = $1
  ) rows group by id order by id`;

const CONTENTS =
  'value_sealed as "valueSealed", comment_sealed as "commentSealed", metadata_sealed as "metadataSealed"';

const CURRENT = `select id, version, ${CONTENTS} from secret where id = any($1::uuid[]) order by id for update`;

const VERSIONS = `select secret_id as id, version, is_deletion as "isDeletion", ${CONTENTS} from secret_version
  where secret_id = any($1::uuid[]) and not is_deletion order by secret_id, version for update`;

const paramsOf = (rows: readonly SealedRow[]): unknown[] => [
  rows.map(({ id }) => id),
  rows.map(({ version }) => version),
  rows.map(({ valueSealed }) => valueSealed),
  rows.map(({ commentSealed }) => commentSealed),
  rows.map(({ metadataSealed }) => metadataSealed),
];

const SET = 'set value_sealed = given.value, comment_sealed = given.comment, metadata_sealed = given.metadata';
const ARRAYS = '$1::uuid[], $2::int[], $3::bytea[], $4::bytea[], $5::bytea[]';

const UPDATE_VERSIONS = `update secret_version v ${SET}
  from unnest(${ARRAYS}) as given (id, version, value, comment, metadata) where v.secret_id = given.id and v.version = given.version`;

const UPDATE_CURRENT = `update secret s ${SET}, value_digest = given.digest
  from unnest(${ARRAYS}, $6::bytea[]) as given (id, version, value, comment, metadata, digest) where s.id = given.id and s.version = given.version
  returning s.id, s.version, ${secretDigest('s')} as digest`;
