import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * Serializes changes of the structure of a project: folders, imports, and the keys and locations that references name.
 * They touch many rows in no common order, and two imports that are harmless by themselves may close a cycle together.
 * To be taken before any other lock. Not the row of the project: every change in it ends with writing there.
 */
export const lockStructure = sqlStatement({
  text: `select pg_advisory_xact_lock(hashtextextended('secret structure ' || :projectId, 0))::text as lock`,
  params: { projectId: t.text },
  row: { lock: t.text },
});

/**
 * Locks the folders in which secrets get new keys, or to which they are moved: before the secrets themselves are
 * locked, since inserts lock folders first. Otherwise writers of one key could deadlock.
 */
export const lockHomes = sqlStatement({
  text: `select id from folder where id = any(${plannedOnce(':folderIds', 'uuid')}) order by id for no key update`,
  params: { folderIds: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Locks, as `lockHomes` does, the folder of a secret, which stays in it: the structure is locked. */
export const lockHomeOf = sqlStatement({
  text: 'select f.id from folder f join secret s on s.folder_id = f.id where s.id = :secretId for no key update of f',
  params: { secretId: t.uuid },
  row: { id: t.uuid },
});

/** Locks, as `lockHomes` does, a folder, with `recursive` also all below it. */
export const lockHomesIn = sqlStatement({
  text: `select id from folder
    where environment_id = :environmentId and (path = :path or :recursive and (:path = '/' or starts_with(path, :path || '/')))
    order by id for no key update`,
  params: { environmentId: t.uuid, path: t.text, recursive: t.boolean },
  row: { id: t.uuid },
});

/** Locks, as `lockHomes` does, folders, and returns their locations, which stay. */
export const lockPlaces = sqlStatement({
  text: `select f.id, f.path, e.slug as environment from folder f join environment e on e.id = f.environment_id
    where f.id = any(${plannedOnce(':folderIds', 'uuid')}) order by f.id for no key update of f for key share of e`,
  params: { folderIds: t.array(t.uuid) },
  row: { id: t.uuid, path: t.text, environment: t.text },
});

/** Those of these secrets that exist, locked until the transaction ends, in one order. */
export const lockByIds = sqlStatement({
  text: `select id from secret where id = any(${plannedOnce(':ids', 'uuid')}) order by key collate "C", id for update`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

const LOCKED = 'strongroom.locked';
/**
 * A lock of rows that is sent together with what reads them: their IDs are in a setting of the transaction.
 *
 * @param rows a query of IDs
 */
const noted = (rows: string): string =>
  `select length(set_config('${LOCKED}', coalesce(string_agg(id::text, ','), ''), true)) as length from (${rows}) locked`;
/** What the last `noted` of the transaction has locked, as an array of IDs. */
export const LOCKED_IDS = `(select string_to_array(current_setting('${LOCKED}'), ',')::uuid[])::uuid[]`;

/** Locks, as `lockByIds` does, those secrets of a folder that have these keys, and notes them. */
export const lockNotedByKeys = sqlStatement({
  text: noted(`select id from secret where folder_id = :folderId and key = any(${plannedOnce(':keys', 'text')})
    order by key collate "C" for update`),
  params: { folderId: t.uuid, keys: t.array(t.text) },
  row: { length: t.integer },
});

/** The same in several folders. */
export const lockNotedInFolders = sqlStatement({
  text: noted(`select s.id from secret s
    join unnest(${plannedOnce(':folderIds', 'uuid')}, ${plannedOnce(':keys', 'text')}) as given (folder_id, key)
      on s.folder_id = given.folder_id and s.key = given.key
    order by s.key collate "C", s.id for update of s`),
  params: { folderIds: t.array(t.uuid), keys: t.array(t.text) },
  row: { length: t.integer },
});

/** The same as `lockByIds`, and notes them. */
export const lockNotedByIds = sqlStatement({
  text: noted(
    `select id from secret where id = any(${plannedOnce(':ids', 'uuid')}) order by key collate "C", id for update`,
  ),
  params: { ids: t.array(t.uuid) },
  row: { length: t.integer },
});

/** Which of these keys of folders are taken: by secrets but for some, or reserved for rotations. */
export const listTaken = sqlStatement({
  text: `with wanted as (
      select * from unnest(${plannedOnce(':folderIds', 'uuid')}, ${plannedOnce(':keys', 'text')}) as given (folder_id, key))
    select s.folder_id as "folderId", s.key from wanted join secret s on s.folder_id = wanted.folder_id and s.key = wanted.key
    where s.id <> all(${plannedOnce(':exceptIds', 'uuid')})
    union
    select k.folder_id, k.key from wanted join secret_rotation_key k on k.folder_id = wanted.folder_id and k.key = wanted.key`,
  params: { folderIds: t.array(t.uuid), keys: t.array(t.text), exceptIds: t.array(t.uuid) },
  row: { folderId: t.uuid, key: t.text },
});
