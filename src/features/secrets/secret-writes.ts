import type { Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { type ConstraintCodes, guarded } from '../../kernel/database/in-transaction.js';
import type { StoredEntry } from './secret.records.js';

/** Everything of a secret that a write decides, sealed for this row and this version. */
export interface SecretRow {
  readonly id: string;
  readonly key: string;
  readonly version: number;
  readonly valueSealed: Uint8Array;
  readonly commentSealed: Uint8Array | null;
  readonly metadata: readonly StoredEntry[];
  readonly metadataSealed: Uint8Array | null;
  readonly skipMultilineEncoding: boolean;
  readonly reminderNote: string | null;
  readonly reminderRepeatDays: number | null;
}

/** Where rows go. */
interface Home {
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly folderId: string;
}

/** What another caller may have taken or deleted since it was looked up. */
const CODES: ConstraintCodes = {
  secret_key_unique: 'SECRET_KEY_TAKEN',
  secret_folder_id_fkey: 'FOLDER_NOT_FOUND',
  secret_environment_id_fkey: 'ENVIRONMENT_NOT_FOUND',
  secret_project_id_fkey: 'PROJECT_NOT_FOUND',
  secret_tag_tag_id_fkey: 'TAG_NOT_FOUND',
};

const GIVEN = `unnest($1::uuid[], $2::text[], $3::int[], $4::bytea[], $5::bytea[], $6::text[], $7::bytea[], $8::bool[], $9::text[], $10::int[])
  as given (id, key, version, value_sealed, comment_sealed, metadata, metadata_sealed, skip, note, days)`;

/** One array a column, so that the statement is the same for every number of rows. */
const columnsOf = (rows: readonly SecretRow[]): unknown[] => [
  rows.map(({ id }) => id),
  rows.map(({ key }) => key),
  rows.map(({ version }) => version),
  rows.map(({ valueSealed }) => valueSealed),
  rows.map(({ commentSealed }) => commentSealed),
  rows.map(({ metadata }) => JSON.stringify(metadata)),
  rows.map(({ metadataSealed }) => metadataSealed),
  rows.map(({ skipMultilineEncoding }) => skipMultilineEncoding),
  rows.map(({ reminderNote }) => reminderNote),
  rows.map(({ reminderRepeatDays }) => reminderRepeatDays),
];

/** Keys of a folder that are taken, among those wanted. */
export async function takenKeys(
  tx: Transaction,
  folderId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await query<{ key: string }>(
    tx,
    'select key from secret where folder_id = $1 and key = any($2::text[])',
    [folderId, keys],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Inserts secrets in one statement. @throws SECRET_KEY_TAKEN, FOLDER_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PROJECT_NOT_FOUND */
export async function insertSecrets(tx: Transaction, home: Home, rows: readonly SecretRow[]): Promise<void> {
  // In one order, so that two batches with common keys wait for each other and do not lock each other out.
  const inOrder = [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
  const text = `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, version, value_sealed, comment_sealed,
      metadata, metadata_sealed, skip_multiline_encoding, reminder_note, reminder_repeat_days, actor_kind, actor_id)
    select id, $11::uuid, $12::uuid, $13::uuid, $14::uuid, key, version, value_sealed, comment_sealed,
      metadata::jsonb, metadata_sealed, skip, note, days, $15, $16::uuid
    from ${GIVEN}`;
  const { organizationId, projectId, environmentId, folderId } = home;
  const scalars = [organizationId, projectId, environmentId, folderId, tx.actor.kind, tx.actor.id];
  await guarded(() => query(tx, text, [...columnsOf(inOrder), ...scalars]), CODES);
}

/** Ids of the secrets of a folder that have these keys, locked until the transaction ends, in one order. */
export async function lockByKeys(tx: Transaction, folderId: string, keys: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `select id from secret where folder_id = $1 and key = any($2::text[]) order by key collate "C" for update`,
    [folderId, keys],
  );
  return rows.map(({ id }) => id);
}

/**
 * Writes the next version of locked secrets in one statement.
 *
 * @returns how many rows were at the version before
 * @throws SECRET_KEY_TAKEN
 */
export async function updateSecrets(tx: Transaction, rows: readonly SecretRow[]): Promise<number> {
  const text = `update secret s set key = given.key, version = given.version, value_sealed = given.value_sealed,
      comment_sealed = given.comment_sealed, metadata = given.metadata::jsonb, metadata_sealed = given.metadata_sealed,
      skip_multiline_encoding = given.skip, reminder_note = given.note, reminder_repeat_days = given.days,
      actor_kind = $11, actor_id = $12::uuid, updated_at = now()
    from ${GIVEN}
    where s.id = given.id and s.version = given.version - 1 returning s.id`;
  const params = [...columnsOf(rows), tx.actor.kind, tx.actor.id];
  return (await guarded(() => query(tx, text, params), CODES)).length;
}

/** Deletes locked secrets in one statement. */
export async function deleteSecrets(tx: Transaction, ids: readonly string[]): Promise<void> {
  await query(tx, 'delete from secret where id = any($1::uuid[])', [ids]);
}

/** Gives secrets their tags, each list whole. Two statements at most. @throws TAG_NOT_FOUND when a tag has just gone */
export async function replaceTags(
  tx: Transaction,
  wanted: ReadonlyMap<string, readonly string[]>,
  { areNew }: { areNew: boolean },
): Promise<void> {
  const secretIds = [...wanted.keys()];
  if (secretIds.length === 0) return;
  if (!areNew) await query(tx, 'delete from secret_tag where secret_id = any($1::uuid[])', [secretIds]);
  const pairs = [...wanted].flatMap(([secretId, tagIds]) => tagIds.map((tagId) => [secretId, tagId] as const));
  if (pairs.length === 0) return;
  const text = 'insert into secret_tag (secret_id, tag_id) select * from unnest($1::uuid[], $2::uuid[])';
  await guarded(() => query(tx, text, [pairs.map(([secretId]) => secretId), pairs.map(([, tagId]) => tagId)]), CODES);
}
