import { type Actor, SYSTEM, type Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { type ConstraintCodes, guarded } from '../../../kernel/database/in-transaction.js';
import { plannedOnce } from '../../../kernel/database/planned-once.js';
import { AppError } from '../../../kernel/errors.js';
import type { Place } from '../scope/place.rules.js';
import type { ReferenceTarget } from './reference.rules.js';
import type { StoredEntry } from './secret.sql.js';
import type { SealedContents } from './secret-sealing.js';
import { noteStates, type State, secretDigest } from './secret-states.js';

/** Everything that a write of a secret determines, sealed for this row and this version. */
export interface SecretRow {
  readonly id: string;
  readonly environmentId: string;
  readonly folderId: string;
  readonly key: string;
  readonly version: number;
  readonly valueSealed: Uint8Array;
  /** Equal for equal values of one project; null for the empty one. */
  readonly valueDigest: Uint8Array | null;
  readonly commentSealed: Uint8Array | null;
  readonly metadata: readonly StoredEntry[];
  readonly metadataSealed: Uint8Array | null;
  readonly skipMultilineEncoding: boolean;
  readonly reminderNote: string | null;
  readonly reminderRepeatDays: number | null;
  readonly reminderRecipientIds: readonly string[];
  /** The rotation that writes its value; null for an ordinary secret. */
  readonly rotationId: string | null;
  /** All its tags after the write. */
  readonly tagIds: readonly string[];
  /** The references of its value, each once. */
  readonly references: readonly ReferenceTarget[];
  /** The contents again, sealed for the history. */
  readonly versionSealed: SealedContents;
}

/** The project that rows belong to. */
interface Home {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Times of a row after a write. */
export interface Written {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What another caller may have taken or deleted since the lookup. */
const CODES: ConstraintCodes = {
  secret_key_unique: 'SECRET_KEY_TAKEN',
  secret_folder_id_fkey: 'FOLDER_NOT_FOUND',
  secret_environment_id_fkey: 'ENVIRONMENT_NOT_FOUND',
  secret_project_id_fkey: 'PROJECT_NOT_FOUND',
  secret_version_environment_id_fkey: 'ENVIRONMENT_NOT_FOUND',
  secret_version_project_id_fkey: 'PROJECT_NOT_FOUND',
  secret_tag_tag_id_fkey: 'TAG_NOT_FOUND',
  // Its history already has the next version: the row is older than the last write.
  secret_version_pkey: 'SEALED_VALUE_INVALID',
};

/** One array per column, so that a statement is the same for every number of rows. $1 to $20; $21 to $24 say whose and by whom. */
const paramsOf = (rows: readonly SecretRow[], { organizationId, projectId }: Home, actor: Writer): unknown[] => [
  rows.map(({ id }) => id),
  rows.map(({ environmentId }) => environmentId),
  rows.map(({ folderId }) => folderId),
  rows.map(({ key }) => key),
  rows.map(({ version }) => version),
  rows.map(({ valueSealed }) => valueSealed),
  rows.map(({ valueDigest }) => valueDigest),
  rows.map(({ commentSealed }) => commentSealed),
  rows.map(({ metadata }) => JSON.stringify(metadata)),
  rows.map(({ metadataSealed }) => metadataSealed),
  rows.map(({ skipMultilineEncoding }) => skipMultilineEncoding),
  rows.map(({ reminderNote }) => reminderNote),
  rows.map(({ reminderRepeatDays }) => reminderRepeatDays),
  rows.map(({ reminderRecipientIds }) => JSON.stringify(reminderRecipientIds)),
  rows.map(({ tagIds }) => JSON.stringify(tagIds)),
  rows.map(({ references }) => JSON.stringify(references)),
  rows.map(({ versionSealed }) => versionSealed.valueSealed),
  rows.map(({ versionSealed }) => versionSealed.commentSealed),
  rows.map(({ versionSealed }) => versionSealed.metadataSealed),
  rows.map(({ rotationId }) => rotationId),
  organizationId,
  projectId,
  actor.kind,
  actor.id,
];

/** The recorded author of a write. */
export type Writer = Pick<Actor, 'kind' | 'id'>;

const TYPES =
  'uuid uuid uuid text int bytea bytea bytea text bytea bool text int text text text bytea bytea bytea uuid'.split(' ');

const ARRAYS = TYPES.map((type, at) => plannedOnce(`$${at + 1}`, type)).join(', ');

const rowsAs = (name: string): string => `${name} as (
    select id, environment_id, folder_id, key, version, value_sealed, value_digest, comment_sealed, metadata::jsonb, metadata_sealed, skip, note, days,
      array(select jsonb_array_elements_text(recipients::jsonb)::uuid) as recipients, tags::jsonb, refs::jsonb,
      version_value_sealed, version_comment_sealed, version_metadata_sealed, rotation_id
    from unnest(${ARRAYS})
      as raw (id, environment_id, folder_id, key, version, value_sealed, value_digest, comment_sealed, metadata, metadata_sealed, skip, note, days,
        recipients, tags, refs, version_value_sealed, version_comment_sealed, version_metadata_sealed, rotation_id))`;

const TAGGED = `tagged as (
    insert into secret_tag (secret_id, tag_id) select g.id, tag::uuid from given g, jsonb_array_elements_text(g.tags) tag
    on conflict do nothing)`;

/**
 * References that a value no longer has. Grouped and not joined: a plan made for short values could scan all references
 * of a long one for each name. Nobody else writes references of these secrets, which are locked: their positions in the
 * table are stable.
 */
const UNREFERRED = `unreferred as (
    delete from secret_reference where ctid = any(array(
      select min(place) from (
        select secret_id, environment, path, key, ctid as place from secret_reference where secret_id = any(${plannedOnce('$1', 'uuid')})
        union all
        select g.id, r.environment, r.path, r.key, null from given g, jsonb_to_recordset(g.refs) as r (environment text, path text, key text)
      ) named group by secret_id, environment, path, key having count(*) = count(place))))`;

const REFERRED = `referred as (
    insert into secret_reference (secret_id, project_id, environment, path, key)
    select g.id, $22::uuid, r.environment, r.path, r.key from given g, jsonb_to_recordset(g.refs) as r (environment text, path text, key text)
    on conflict do nothing)`;

/** The version of a write has the contents of the row, sealed for the history: neither can be decrypted in place of the other. */
const keptIn = (folders: string): string => `kept as (
    insert into secret_version (secret_id, version, organization_id, project_id, environment_id, folder_id, path, key, value_sealed,
      comment_sealed, metadata, metadata_sealed, skip_multiline_encoding, reminder_note, reminder_repeat_days, reminder_recipient_ids, tag_ids,
      actor_kind, actor_id)
    select g.id, g.version, $21::uuid, $22::uuid, g.environment_id, g.folder_id, f.path, g.key, g.version_value_sealed,
      g.version_comment_sealed, g.metadata, g.version_metadata_sealed, g.skip, g.note, g.days, g.recipients,
      array(select jsonb_array_elements_text(g.tags)::uuid), $23, $24::uuid
    from given g join ${folders} f on f.id = g.folder_id)`;

const WRITTEN = `s.id, s.created_at as "createdAt", s.updated_at as "updatedAt", ${secretDigest('s')} as digest`;

/**
 * The foreign key to the folder is checked when the statement ends: two statements that insert the same keys at once
 * could deadlock there. So each locks its folders first.
 */
const HOMES = `homes as (
    select f.id, f.path, e.slug from folder f join environment e on e.id = f.environment_id where f.id in (select folder_id from sent)
    order by f.id for no key update of f for key share of e)`;

/**
 * $25 and $26, besides those of `paramsOf`: the required path of the folder and slug of its environment; otherwise
 * nothing is inserted. Null: any.
 */
const INSERT = `with ${rowsAs('sent')}, ${HOMES},
  given as (select * from sent where (select coalesce(bool_and(path = $25 and slug = $26), true) from homes)), written as (
    insert into secret as s (id, organization_id, project_id, environment_id, folder_id, key, version, value_sealed, value_digest, comment_sealed,
      metadata, metadata_sealed, skip_multiline_encoding, reminder_note, reminder_repeat_days, reminder_recipient_ids, rotation_id, actor_kind, actor_id)
    select id, $21::uuid, $22::uuid, environment_id, folder_id, key, version, value_sealed, value_digest, comment_sealed,
      metadata, metadata_sealed, skip, note, days, recipients, rotation_id, $23, $24::uuid
    from given returning ${WRITTEN}),
  ${TAGGED}, ${REFERRED}, ${keptIn('homes')}
  select * from written`;

/** How many versions of a secret its project keeps. @param projectId the column with its id */
const limitOf = (projectId: string): string => `(select p.pit_version_limit from project p where p.id = ${projectId})`;

/**
 * The versions of written rows beyond the limit of the project. A version that the service wrote is not counted: it is
 * dropped with the one that it follows, so that no number of renames evicts what people wrote.
 *
 * @param rows the rows, with their IDs
 * @param kept how many versions by people stay
 */
const beyondLimit = (rows: string, kept: string): string => `
    delete from secret_version v using ${rows} g cross join lateral (
      select k.version from secret_version k where k.secret_id = g.id and k.actor_kind <> '${SYSTEM.kind}'
      order by k.version desc offset ${kept} limit 1) beyond
    where v.secret_id = g.id and v.version <= beyond.version`;

/**
 * The versions by the service itself beyond the same limit. The last one before a version by a person always stays: a
 * gap that ends with a version by the service contains only such versions, so that the contents at any time are known.
 */
const REWRITTEN = `rewritten as (
    delete from secret_version v using given g cross join lateral (
      select k.version from secret_version k where k.secret_id = g.id and k.actor_kind = '${SYSTEM.kind}'
      order by k.version desc offset ${limitOf('$22::uuid')} - 1 limit 1) beyond
    where v.secret_id = g.id and v.version <= beyond.version and v.actor_kind = '${SYSTEM.kind}'
      and exists (select from secret_version n where n.secret_id = v.secret_id and n.version = v.version + 1
        and n.actor_kind = '${SYSTEM.kind}'))`;

/** The required paths of the folders of all rows and slugs of their environments; otherwise nothing is written. Null: any. */
const areAt = (folderIds: string, path: string, environment: string): string => `(
    select coalesce(bool_and(f.path = ${path} and e.slug = ${environment}), true)
    from folder f join environment e on e.id = f.environment_id where f.id in (${folderIds}))`;

/** Two statements cannot be one here: each part of a statement sees the same row as it was before. Hence no delete and insert of all. */
const updateOf = (isByService: boolean): string => `with ${rowsAs('sent')},
  given as (select * from sent where ${areAt('select folder_id from sent', '$25', '$26')}), written as (
    update secret s set environment_id = g.environment_id, folder_id = g.folder_id, key = g.key, version = g.version,
      value_sealed = g.value_sealed, value_digest = g.value_digest, comment_sealed = g.comment_sealed, metadata = g.metadata,
      metadata_sealed = g.metadata_sealed, skip_multiline_encoding = g.skip, reminder_note = g.note, reminder_repeat_days = g.days,
      reminder_recipient_ids = g.recipients, rotation_id = g.rotation_id, actor_kind = $23, actor_id = $24::uuid, updated_at = now()
    from given g where s.id = g.id and s.version = g.version - 1 returning ${WRITTEN}),
  untagged as (
    delete from secret_tag st using given g where st.secret_id = g.id and not g.tags ? st.tag_id::text),
  ${UNREFERRED},
  pruned as (${beyondLimit('given', isByService ? limitOf('$22::uuid') : `${limitOf('$22::uuid')} - 1`)}),
  ${isByService ? `${REWRITTEN},` : ''} ${TAGGED}, ${REFERRED}, ${keptIn('folder')}
  select * from written`;

const UPDATE = updateOf(false);
const UPDATE_BY_SERVICE = updateOf(true);

const DELETE = `with gone as (
    delete from secret where id = any($1::uuid[])
      and ${areAt('select folder_id from secret where id = any($1::uuid[])', '$4', '$5')} returning *),
  pruned as (${beyondLimit('gone', `${limitOf('g.project_id')} - 1`)})
  insert into secret_version (secret_id, version, organization_id, project_id, environment_id, folder_id, path, key, is_deletion, tag_ids,
    actor_kind, actor_id)
  select g.id, g.version + 1, g.organization_id, g.project_id, g.environment_id, g.folder_id, f.path, g.key, true,
    array(select st.tag_id from secret_tag st where st.secret_id = g.id order by st.tag_id), $2, $3::uuid
  from gone g join folder f on f.id = g.folder_id
  returning secret_id as id, version, '' as digest`;

const PRUNE = beyondLimit('(select id, project_id from secret where id = any($1::uuid[]))', limitOf('g.project_id'));

/** Which of the wanted keys of a folder are taken: by secrets, or reserved for rotations. */
export async function takenKeys(
  tx: Transaction,
  folderId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await query<{ key: string }>(
    tx,
    `select key from secret where folder_id = $1 and key = any($2::text[])
     union select key from secret_rotation_key where folder_id = $1 and key = any($2::text[])`,
    [folderId, keys],
  );
  return new Set(rows.map(({ key }) => key));
}

/**
 * Inserts secrets, with their tags, references and first versions, in one statement.
 *
 * @param place the location for which the rules were checked. A concurrent move of the folder waits, and then needs the
 * rights on what was added to it. Absent: the caller has locked the folder
 * @returns times of the rows, in no order
 * @throws SECRET_KEY_TAKEN, FOLDER_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PROJECT_NOT_FOUND, TAG_NOT_FOUND,
 * CONCURRENT_CHANGE for a folder
 * that was renamed meanwhile
 */
export async function insertSecrets(
  tx: Transaction,
  home: Home,
  rows: readonly SecretRow[],
  place?: Place,
): Promise<Written[]> {
  if (rows.length === 0) return [];
  // In one order, so that two batches with common keys wait for each other and do not deadlock.
  const inOrder = [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
  const params = [...paramsOf(inOrder, home, tx.actor), ...namesOf(place)];
  const written = await write(tx, INSERT, params, rows);
  if (written.length < rows.length) throw new AppError('CONCURRENT_CHANGE');
  return written;
}

/**
 * Serializes changes of the structure of a project: folders, imports, and the keys and locations that references name.
 * They touch many rows in no common order, and two imports that are harmless by themselves may close a cycle together.
 * To be taken before any other lock. Not the row of the project: every change in it ends with writing there.
 */
export async function lockStructure(tx: Transaction, projectId: string): Promise<void> {
  await query(tx, `select pg_advisory_xact_lock(hashtextextended('secret structure ' || $1, 0))`, [projectId]);
}

/**
 * Locks the folders in which secrets get new keys, or to which they are moved: before the secrets themselves are
 * locked, since inserts lock folders first. Otherwise writers of one key could deadlock.
 */
export async function lockHomes(tx: Transaction, folderIds: readonly string[]): Promise<void> {
  await query(tx, `select id from folder where id = any(${plannedOnce('$1', 'uuid')}) order by id for no key update`, [
    folderIds,
  ]);
}

/** Locks, as `lockHomes` does, the folder of a secret, which stays in it: the structure is locked. */
export async function lockHomeOf(tx: Transaction, secretId: string): Promise<void> {
  await query(
    tx,
    'select f.id from folder f join secret s on s.folder_id = f.id where s.id = $1 for no key update of f',
    [secretId],
  );
}

/** Locks, as `lockHomes` does, a folder, with `recursive` also all below it. */
export async function lockHomesIn(
  tx: Transaction,
  {
    environmentId,
    path,
    recursive,
  }: { readonly environmentId: string; readonly path: string; readonly recursive: boolean },
): Promise<void> {
  await query(
    tx,
    `select id from folder where environment_id = $1 and (path = $2 or $3 and ($2 = '/' or starts_with(path, $2 || '/')))
     order by id for no key update`,
    [environmentId, path, recursive],
  );
}

/** IDs of the secrets of a folder that have these keys, locked until the transaction ends, in one order. */
export async function lockByKeys(tx: Transaction, folderId: string, keys: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `select id from secret where folder_id = $1 and key = any(${plannedOnce('$2', 'text')}) order by key collate "C" for update`,
    [folderId, keys],
  );
  return rows.map(({ id }) => id);
}

/** Those of these secrets that exist, locked until the transaction ends, in one order. */
export async function lockByIds(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `select id from secret where id = any(${plannedOnce('$1', 'uuid')}) order by key collate "C", id for update`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Writes the next version of locked secrets, with their tags and references, in one statement. A row may have a new key
 * and a new folder. Versions beyond the limit of the project are dropped; those by the service itself are counted
 * separately.
 *
 * @param place as in `insertSecrets`
 * @returns times of the rows that were at the version before, in no order: fewer than given means a concurrent change
 * @throws SECRET_KEY_TAKEN, FOLDER_NOT_FOUND, ENVIRONMENT_NOT_FOUND, TAG_NOT_FOUND, SEALED_VALUE_INVALID for a row that
 * is older than its
 * history
 */
export async function updateSecrets(
  tx: Transaction,
  home: Home,
  rows: readonly SecretRow[],
  { writer = tx.actor, place }: { readonly writer?: Writer; readonly place?: Place } = {},
): Promise<Written[]> {
  if (rows.length === 0) return [];
  const params = [...paramsOf(rows, home, writer), ...namesOf(place)];
  return write(tx, writer.kind === SYSTEM.kind ? UPDATE_BY_SERVICE : UPDATE, params, rows);
}

/** Drops versions beyond the limit of the project, of restored secrets: their history continues. */
export async function pruneVersions(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await query(tx, PRUNE, [ids]);
}

const namesOf = (place: Place | undefined): [path: string | null, environment: string | null] => [
  place?.secretPath ?? null,
  place?.environment ?? null,
];

async function write(
  tx: Transaction,
  statement: string,
  params: readonly unknown[],
  rows: readonly SecretRow[],
): Promise<Written[]> {
  const written = await guarded(() => query<Written & { digest: string }>(tx, statement, params), CODES);
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  const states = written.map(({ id, digest }) => ({ id, version: versions.get(id) as number, digest }));
  noteStates(tx, states);
  return written;
}

/**
 * Deletes locked secrets in one statement. Their versions stay, and the last one records the deletion.
 *
 * @param place as in `insertSecrets`
 * @throws SEALED_VALUE_INVALID, CONCURRENT_CHANGE for a folder that was renamed meanwhile
 */
export async function deleteSecrets(tx: Transaction, ids: readonly string[], place?: Place): Promise<void> {
  if (ids.length === 0) return;
  const params = [ids, tx.actor.kind, tx.actor.id, ...namesOf(place)];
  const gone = await guarded(() => query<State>(tx, DELETE, params), CODES);
  if (gone.length < ids.length) throw new AppError('CONCURRENT_CHANGE');
  noteStates(tx, gone);
}
