import { sql } from 'kysely';
import type { Transaction } from '../../../kernel/context.js';
import { EMPTY_RECORD_BYTES } from '../../../kernel/crypto/seal.js';
import { t } from '../../../kernel/database/statement.js';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { anyOfTexts, type ListParams, rowsOfLists, type TextParams, tables } from '../entities/tables.js';
import type { SecretLocation } from '../scope/location.rules.js';

/**
 * Serializes changes of the structure of a project: folders, imports, and the keys and locations that references name.
 * They touch many rows in no common order, and two imports that are harmless by themselves may close a cycle together.
 * To be taken before any other lock. Not the row of the project: every change in it ends with writing there.
 */
export const lockStructure = prepared(({ projectId }: TextParams<'projectId'>) =>
  tables.selectNoFrom(
    sql<string>`pg_advisory_xact_lock(hashtextextended('secret structure ' || ${projectId}, 0))::text`.as('lock'),
  ),
);

const folders = tables.selectFrom('folder as f').select('f.id').orderBy('f.id').forNoKeyUpdate('f');

/**
 * Locks the folders in which secrets get new keys, or to which they are moved: before the secrets themselves are
 * locked, since inserts lock folders first. Otherwise writers of one key could deadlock.
 */
export const lockFolders = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  folders.where('f.id', '=', anyOfTexts(folderIds)),
);

/** Locks, as `lockFolders` does, the folder of a secret, which stays in it: the structure is locked. */
export const lockFolderOfSecret = prepared(({ secretId }: TextParams<'secretId'>) =>
  folders.innerJoin('secret as s', 's.folder_id', 'f.id').where('s.id', '=', secretId),
);

/** Locks, as `lockFolders` does, a folder, with `recursive` also all below it, and the folders that secrets are in now. */
export const lockFoldersIn = prepared(
  ({
    environmentId,
    path,
    recursive,
    secretIds,
  }: TextParams<'environmentId' | 'path'> & ListParams<'secretIds'> & { readonly recursive: boolean }) =>
    folders.where(
      sql<boolean>`f.id in (
        select id from folder where environment_id = ${environmentId}
          and (path = ${path} or ${recursive} and (${path} = '/' or starts_with(path, ${path} || '/')))
        union all select folder_id from secret where id = ${anyOfTexts(secretIds)})`,
    ),
);

/** Locks, as `lockFolders` does, folders, and returns their locations, which stay. */
export const lockFolderLocations = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  folders
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .select(['f.path', 'e.slug as environment'])
    .where('f.id', '=', anyOfTexts(folderIds))
    .forKeyShare('e'),
);

/** Projects, locked in one order: the audit records of a change in several of them are written there at its end. */
export const lockProjects = prepared(({ ids }: ListParams<'ids'>) =>
  tables.selectFrom('project').select('id').where('id', '=', anyOfTexts(ids)).orderBy('id').forNoKeyUpdate(),
);

/**
 * The folders of secrets: neither they nor their environments are renamed or moved, and rules are checked at this location. Locked
 * before the secrets themselves, as by every write in several folders.
 */
export const lockFoldersOfSecrets = prepared(({ ids }: ListParams<'ids'>) =>
  folders
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .where(sql<boolean>`f.id in (select s.folder_id from secret s where s.id = ${anyOfTexts(ids)})`)
    .forKeyShare('e'),
);

const secrets = tables.selectFrom('secret as s').select('s.id').orderBy('s.key').orderBy('s.id').forUpdate('s');
const secretsById = (ids: readonly string[]) => secrets.where('s.id', '=', anyOfTexts(ids));

/** Those of these secrets that exist, locked until the transaction ends, in one order. */
export const lockByIds = prepared(({ ids }: ListParams<'ids'>) => secretsById(ids));

/** The latest versions of those of these secrets that are deleted, locked until the transaction ends. */
export const lockDeletedVersions = prepared(({ ids }: ListParams<'ids'>) =>
  tables
    .selectFrom('secret_version as v')
    .select('v.secret_id as id')
    .where('v.secret_id', '=', anyOf(ids))
    .where(
      sql<boolean>`not exists (select from secret s where s.id = v.secret_id)
        and not exists (select from secret_version n where n.secret_id = v.secret_id and n.version > v.version)`,
    )
    .orderBy('v.secret_id')
    .forUpdate(),
);

/**
 * Locks secrets until the transaction ends, including deleted ones: for these the latest version is the lock, so that
 * one caller at a time restores a secret.
 */
export async function lockHistories(tx: Transaction, ids: readonly string[]): Promise<void> {
  await lockByIds(tx, { ids });
  await lockDeletedVersions(tx, { ids });
  // What another caller restored while this one waited.
  await lockByIds(tx, { ids });
}

/** All secrets of folders, locked until the transaction ends. */
export const lockSecretsIn = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  secrets.where('s.folder_id', '=', anyOfTexts(folderIds)),
);

const LOCKED = 'strongroom.locked';
/** What the last `noted` of the transaction has locked, as an array of IDs. */
export const LOCKED_IDS = `(select string_to_array(current_setting('${LOCKED}'), ',')::uuid[])::uuid[]`;

/** A lock of secrets that is sent together with what reads them: their IDs are in a setting of the transaction. */
const noted = (locked: typeof secrets) =>
  tables
    .selectFrom(locked.as('locked'))
    .select(
      sql<number>`length(set_config(${sql.lit(LOCKED)}, coalesce(string_agg(id::text, ','), ''), true))`.as('length'),
    );

/** Locks, as `lockByIds` does, those secrets of a folder that have these keys, and notes them. */
export const lockAndRecordByKeys = prepared(({ folderId, keys }: TextParams<'folderId'> & ListParams<'keys'>) =>
  noted(secrets.where('s.folder_id', '=', folderId).where('s.key', '=', anyOfTexts(keys, 'text'))),
);

const keysOf = ({ folderIds, keys }: ListParams<'folderIds' | 'keys'>) =>
  rowsOfLists({ folder_id: ['uuid', folderIds], key: ['text', keys] });

/** The same in several folders. */
export const lockAndRecordInFolders = prepared((wanted: ListParams<'folderIds' | 'keys'>) =>
  noted(
    secrets.innerJoin(keysOf(wanted), (join) =>
      join.onRef('s.folder_id', '=', 'given.folder_id').onRef('s.key', '=', 'given.key'),
    ),
  ),
);

/** The same as `lockByIds`, and notes them. */
export const lockAndRecordByIds = prepared(({ ids }: ListParams<'ids'>) => noted(secretsById(ids)));

/** Which of these keys of folders are taken: by secrets but for some, or reserved for rotations. */
export const listTakenKeys = prepared((wanted: ListParams<'folderIds' | 'keys' | 'exceptIds'>) =>
  tables
    .selectFrom(keysOf(wanted))
    .innerJoin('secret as s', (join) =>
      join.onRef('s.folder_id', '=', 'given.folder_id').onRef('s.key', '=', 'given.key'),
    )
    .select(['s.folder_id as folderId', 's.key'])
    .where('s.id', '<>', sql<string>`all((select ${wanted.exceptIds}::uuid[])::uuid[])`)
    .union(({ selectFrom }) =>
      selectFrom(keysOf(wanted))
        .innerJoin('secret_rotation_key as k', (join) =>
          join.onRef('k.folder_id', '=', 'given.folder_id').onRef('k.key', '=', 'given.key'),
        )
        .select(['k.folder_id as folderId', 'k.key']),
    ),
);

type InEnvironment = Omit<SecretLocation, 'secretPath'>;

/** An environment with those of these folders that it has; a row without a folder if it has none of them. */
export const findFolderLocations = prepared(
  ({ projectId, environment, secretPaths }: InEnvironment & ListParams<'secretPaths'>) =>
    tables
      .selectFrom('environment as e')
      .leftJoin('folder as f', (join) =>
        join.onRef('f.environment_id', '=', 'e.id').on('f.path', '=', anyOfTexts(secretPaths, 'text')),
      )
      .select(['e.id as environmentId', 'f.id as folderId', 'f.path'])
      .where('e.project_id', '=', projectId)
      .where('e.slug', '=', environment),
);

/** Folders of an environment directly in one of these folders: at most a thousand, those first that are among the paths themselves. */
export const listFoldersBeside = prepared(
  ({ environmentId, secretPaths }: TextParams<'environmentId'> & ListParams<'secretPaths'>) =>
    tables
      .selectFrom('folder as f')
      .innerJoin('folder as parent', 'parent.id', 'f.parent_id')
      .select('f.path')
      .where('parent.environment_id', '=', environmentId)
      .where('parent.path', '=', anyOfTexts(secretPaths, 'text'))
      .orderBy(sql`(f.path = ${anyOfTexts(secretPaths, 'text')})`, 'desc')
      .orderBy('f.path')
      .limit(1_000),
);

/** Project of a secret, for calls that identify only the secret. */
export const findProjectOf = prepared(({ id }: TextParams<'id'>) =>
  tables.selectFrom('secret').select('project_id as projectId').where('id', '=', id),
);

/** Tags of a secret as rules see them. @param secretId the column with its id */
export const tagSlugsOf = (
  secretId: string,
): string => `(select coalesce(json_agg(json_build_object('slug', t.slug)), '[]')
    from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = ${secretId})`;

/**
 * The same for equal values of one project: empty for the empty value, and null for one that has no digest yet. Only the empty value
 * never has one; values written before there were digests have none either, but are longer.
 *
 * @param row alias of the table
 */
export const valueDigestOf = (
  row: string,
): string => `case when ${row}.value_digest is not null then encode(${row}.value_digest, 'hex')
      when octet_length(${row}.value_sealed) = ${EMPTY_RECORD_BYTES} then '' end`;

/** Tags as rules see them. */
type TagSlugs = readonly { readonly slug: string }[];

/** What `tagSlugsOf` returns. */
export const TAG_SLUGS = t.builtJsonOf<TagSlugs>();

const subjects = tables
  .selectFrom('secret as s')
  .innerJoin('folder as f', 'f.id', 's.folder_id')
  .innerJoin('environment as e', 'e.id', 'f.environment_id')
  .select([
    's.folder_id as folderId',
    'e.slug as environment',
    'f.path',
    's.key',
    sql<TagSlugs>`${sql.raw(tagSlugsOf('s.id'))}`.as('tags'),
  ]);

/** The secrets of folders, for rules that depend on single ones. */
export const listSubjects = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  subjects.where('s.folder_id', '=', anyOf(folderIds)),
);

/** The secrets that have a tag. */
export const listSecretsWithTag = prepared(({ tagId }: TextParams<'tagId'>) =>
  subjects.where(sql<boolean>`s.id in (select st.secret_id from secret_tag st where st.tag_id = ${tagId})`),
);

/** Since when secrets have their values. */
export const listValueAges = prepared(({ ids }: ListParams<'ids'>) =>
  tables.selectFrom('secret').select(['id', 'value_changed_at as valueChangedAt']).where('id', '=', anyOfTexts(ids)),
);
