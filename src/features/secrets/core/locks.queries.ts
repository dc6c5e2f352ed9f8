import { sql } from 'kysely';
import { prepared } from '../../../kernel/database/tables.js';
import { among, tables } from '../entities/tables.js';

interface Ids {
  readonly ids: readonly string[];
}

interface Folders {
  readonly folderIds: readonly string[];
}

/** Folders, and a key in each of them. */
interface Keys extends Folders {
  readonly keys: readonly string[];
}

/**
 * Serializes changes of the structure of a project: folders, imports, and the keys and locations that references name.
 * They touch many rows in no common order, and two imports that are harmless by themselves may close a cycle together.
 * To be taken before any other lock. Not the row of the project: every change in it ends with writing there.
 */
export const lockStructure = prepared(({ projectId }: { readonly projectId: string }) =>
  tables.selectNoFrom(
    sql<string>`pg_advisory_xact_lock(hashtextextended('secret structure ' || ${projectId}, 0))::text`.as('lock'),
  ),
);

/**
 * Locks the folders in which secrets get new keys, or to which they are moved: before the secrets themselves are
 * locked, since inserts lock folders first. Otherwise writers of one key could deadlock.
 */
export const lockHomes = prepared(({ folderIds }: Folders) =>
  tables.selectFrom('folder').select('id').where('id', '=', among(folderIds)).orderBy('id').forNoKeyUpdate(),
);

/** Locks, as `lockHomes` does, the folder of a secret, which stays in it: the structure is locked. */
export const lockHomeOf = prepared(({ secretId }: { readonly secretId: string }) =>
  tables
    .selectFrom('folder as f')
    .innerJoin('secret as s', 's.folder_id', 'f.id')
    .select('f.id')
    .where('s.id', '=', secretId)
    .forNoKeyUpdate('f'),
);

/** Locks, as `lockHomes` does, a folder, with `recursive` also all below it. */
export const lockHomesIn = prepared(
  ({ environmentId, path, recursive }: { environmentId: string; path: string; recursive: boolean }) =>
    tables
      .selectFrom('folder')
      .select('id')
      .where('environment_id', '=', environmentId)
      .where(sql<boolean>`(path = ${path} or ${recursive} and (${path} = '/' or starts_with(path, ${path} || '/')))`)
      .orderBy('id')
      .forNoKeyUpdate(),
);

/** Locks, as `lockHomes` does, folders, and returns their locations, which stay. */
export const lockPlaces = prepared(({ folderIds }: Folders) =>
  tables
    .selectFrom('folder as f')
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .select(['f.id', 'f.path', 'e.slug as environment'])
    .where('f.id', '=', among(folderIds))
    .orderBy('f.id')
    .forNoKeyUpdate('f')
    .forKeyShare('e'),
);

const secrets = tables.selectFrom('secret as s').select('s.id');

const lockedByIds = (ids: readonly string[]) =>
  secrets.where('s.id', '=', among(ids)).orderBy(sql`s.key collate "C"`).orderBy('s.id').forUpdate('s');

/** Those of these secrets that exist, locked until the transaction ends, in one order. */
export const lockByIds = prepared(({ ids }: Ids) => lockedByIds(ids));

/** All secrets of folders, locked until the transaction ends. */
export const lockSecretsIn = prepared(({ folderIds }: Folders) =>
  secrets.where('s.folder_id', '=', among(folderIds)).orderBy(sql`s.key collate "C"`).orderBy('s.id').forUpdate('s'),
);

const LOCKED = 'strongroom.locked';
/** What the last `noted` of the transaction has locked, as an array of IDs. */
export const LOCKED_IDS = `(select string_to_array(current_setting('${LOCKED}'), ',')::uuid[])::uuid[]`;

/**
 * A lock of secrets that is sent together with what reads them: their IDs are in a setting of the transaction.
 *
 * @param locked a query of IDs
 */
const noted = (locked: typeof secrets) =>
  tables
    .selectFrom(locked.as('locked'))
    .select(
      sql<number>`length(set_config(${sql.lit(LOCKED)}, coalesce(string_agg(id::text, ','), ''), true))`.as('length'),
    );

/** Locks, as `lockByIds` does, those secrets of a folder that have these keys, and notes them. */
export const lockNotedByKeys = prepared(({ folderId, keys }: { folderId: string; keys: readonly string[] }) =>
  noted(
    secrets
      .where('s.folder_id', '=', folderId)
      .where('s.key', '=', among(keys, 'text'))
      .orderBy(sql`s.key collate "C"`)
      .forUpdate('s'),
  ),
);

/** Keys of folders. */
const given = ({ folderIds, keys }: Keys) =>
  sql<{
    folder_id: string;
    key: string;
  }>`unnest((select ${folderIds}::uuid[])::uuid[], (select ${keys}::text[])::text[])`.as<'given'>(
    sql`given (folder_id, key)`,
  );

/** The same in several folders. */
export const lockNotedInFolders = prepared((wanted: Keys) =>
  noted(
    secrets
      .innerJoin(given(wanted), (join) =>
        join.onRef('s.folder_id', '=', 'given.folder_id').onRef('s.key', '=', 'given.key'),
      )
      .orderBy(sql`s.key collate "C"`)
      .orderBy('s.id')
      .forUpdate('s'),
  ),
);

/** The same as `lockByIds`, and notes them. */
export const lockNotedByIds = prepared(({ ids }: Ids) => noted(lockedByIds(ids)));

/** Which of these keys of folders are taken: by secrets but for some, or reserved for rotations. */
export const listTaken = prepared((wanted: Keys & { readonly exceptIds: readonly string[] }) =>
  tables
    .with('wanted', (from) => from.selectFrom(given(wanted)).selectAll())
    .selectFrom('wanted')
    .innerJoin('secret as s', (join) =>
      join.onRef('s.folder_id', '=', 'wanted.folder_id').onRef('s.key', '=', 'wanted.key'),
    )
    .select(['s.folder_id as folderId', 's.key'])
    .where('s.id', '<>', sql<string>`all((select ${wanted.exceptIds}::uuid[])::uuid[])`)
    .union((from) =>
      from
        .selectFrom('wanted')
        .innerJoin('secret_rotation_key as k', (join) =>
          join.onRef('k.folder_id', '=', 'wanted.folder_id').onRef('k.key', '=', 'wanted.key'),
        )
        .select(['k.folder_id as folderId', 'k.key']),
    ),
);
