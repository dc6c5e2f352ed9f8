import type { Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { guarded } from '../../../kernel/database/in-transaction.js';
import { newId } from '../../../kernel/ids.js';
import { lockStructure } from '../core/secret-writes.js';

const TAKEN = { folder_path_unique: 'FOLDER_NAME_TAKEN' } as const;

/** An environment whose folders nobody else changes until the transaction ends. */
export interface LockedEnvironment {
  readonly environment: string;
  readonly environmentId: string;
  readonly rootId: string;
}

/**
 * Serializes changes of the folders of environments. The row of the root folder is the lock, in a mode that does not
 * block writes of secrets. The slugs of the environments cannot change meanwhile.
 *
 * @returns those of the environments that exist, by slug
 */
export async function lockEnvironments(
  tx: Transaction,
  projectId: string,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, LockedEnvironment>> {
  await lockStructure(tx, projectId);
  const rows = await query<LockedEnvironment>(
    tx,
    `select e.slug as environment, e.id as "environmentId", f.id as "rootId"
     from environment e join folder f on f.environment_id = e.id and f.path = '/'
     where e.project_id = $1 and e.slug = any($2::text[]) order by f.id
     for no key update of f for key share of e`,
    [projectId, slugs],
  );
  return new Map(rows.map((row) => [row.environment, row]));
}

/** Which of these paths exist, under the lock. */
export async function findPaths(
  tx: Transaction,
  environmentId: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ id: string; path: string }>(
    tx,
    'select id, path from folder where environment_id = $1 and path = any($2::text[])',
    [environmentId, paths],
  );
  return new Map(rows.map(({ id, path }) => [path, id]));
}

/** IDs of folders by location, in the order of the locations; undefined for a missing one. */
export async function findPlaces(
  tx: Transaction,
  places: readonly { readonly environmentId: string; readonly path: string }[],
): Promise<(string | undefined)[]> {
  if (places.length === 0) return [];
  const rows = await query<{ id: string; at: number }>(
    tx,
    `select f.id, given.at::integer as at
     from unnest($1::uuid[], $2::text[]) with ordinality as given (environment_id, path, at)
     join folder f on f.environment_id = given.environment_id and f.path = given.path`,
    [places.map(({ environmentId }) => environmentId), places.map(({ path }) => path)],
  );
  const ids = new Map(rows.map(({ id, at }) => [at - 1, id]));
  return places.map((_, index) => ids.get(index));
}

/** Inserts folders, each in the previous one, in one statement. */
export async function insertFolders(
  tx: Transaction,
  home: { organizationId: string; projectId: string; environmentId: string; topParentId: string },
  folders: readonly { name: string; path: string; description: string | null }[],
): Promise<void> {
  const ids = folders.map(newId);
  const parentIds = [home.topParentId, ...ids.slice(0, -1)];
  await query(
    tx,
    `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path, description)
     select id, $6::uuid, $7::uuid, $8::uuid, parent_id, name, path, description
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[]) as given (id, parent_id, name, path, description)`,
    [
      ids,
      parentIds,
      folders.map(({ name }) => name),
      folders.map(({ path }) => path),
      folders.map(({ description }) => description),
      home.organizationId,
      home.projectId,
      home.environmentId,
    ],
  );
}

/** A folder after a change. Its path follows. */
export interface ChangedFolder {
  readonly id: string;
  readonly parentId: string;
  readonly name: string;
  readonly description: string | null;
}

/** Writes the new state of folders. Their paths and those of all below them are updated separately: see `listMoves`. */
export async function writeFolders(tx: Transaction, folders: readonly ChangedFolder[]): Promise<void> {
  await query(
    tx,
    `update folder f set parent_id = given.parent_id, name = given.name, description = given.description,
       version = f.version + 1, updated_at = now()
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as given (id, parent_id, name, description)
     where f.id = given.id`,
    [
      folders.map(({ id }) => id),
      folders.map(({ parentId }) => parentId),
      folders.map(({ name }) => name),
      folders.map(({ description }) => description),
    ],
  );
}

/** A folder whose path does not match its parents. */
export interface FolderMove {
  readonly id: string;
  readonly environment: string;
  readonly before: string;
  /** Null for a folder that was moved into itself. */
  readonly after: string | null;
}

/** All folders of environments whose path changes with their parents, locked against new contents, in one statement. */
export const listMoves = (tx: Transaction, environmentIds: readonly string[]): Promise<FolderMove[]> =>
  query<FolderMove>(
    tx,
    `with recursive tree (id, path) as (
       select id, path from folder where environment_id = any($1::uuid[]) and parent_id is null
       union all
       select f.id, case tree.path when '/' then '' else tree.path end || '/' || f.name
       from folder f join tree on tree.id = f.parent_id)
     select f.id, e.slug as environment, f.path as before, tree.path as after
     from folder f join environment e on e.id = f.environment_id left join tree on tree.id = f.id
     where f.environment_id = any($1::uuid[]) and f.path is distinct from tree.path
     order by f.path collate "C" for update of f`,
    [environmentIds],
  );

/**
 * Updates the paths of folders.
 *
 * @param areMany several folders were changed: one may take the path that another still has, so all of them get
 * temporary paths first.
 * No name contains a dot, so that these are free.
 * @throws FOLDER_NAME_TAKEN
 */
export async function writePaths(
  tx: Transaction,
  folders: readonly { readonly id: string; readonly path: string }[],
  areMany: boolean,
): Promise<void> {
  if (folders.length === 0) return;
  const ids = folders.map(({ id }) => id);
  if (areMany) await query(tx, `update folder set path = '/.' || id where id = any($1::uuid[])`, [ids]);
  const text = `update folder f set path = given.path from unnest($1::uuid[], $2::text[]) as given (id, path) where f.id = given.id`;
  await guarded(() => query(tx, text, [ids, folders.map(({ path }) => path)]), TAKEN);
}

/** Locks a folder against new secrets and folders in it, and returns whether it contains any, or imports. */
export async function lockContents(tx: Transaction, id: string): Promise<{ isEmpty: boolean }> {
  await query(tx, 'select id from folder where id = $1 for update', [id]);
  const [row] = await query<{ isEmpty: boolean }>(
    tx,
    `select not exists (select from secret where folder_id = $1) and not exists (select from folder where parent_id = $1)
       and not exists (select from secret_import where folder_id = $1) as "isEmpty"`,
    [id],
  );
  return { isEmpty: row?.isEmpty ?? true };
}

/** Whether each of these folders directly contains secrets and imports. */
export const listHolding = (
  tx: Transaction,
  ids: readonly string[],
): Promise<{ id: string; secrets: boolean; imports: boolean }[]> =>
  query(
    tx,
    `select f.id, exists (select from secret s where s.folder_id = f.id) as secrets,
       exists (select from secret_import i where i.folder_id = f.id) as imports
     from folder f where f.id = any($1::uuid[])`,
    [ids],
  );

/** A folder and all below it, locked against new contents and new imports from them, by path. */
export const lockTree = (
  tx: Transaction,
  { environmentId, path }: { readonly environmentId: string; readonly path: string },
): Promise<{ id: string; path: string }[]> =>
  query(
    tx,
    `with locked as (
       select id, path from folder where environment_id = $1 and (path = $2 or starts_with(path, $2 || '/')) order by id for update)
     select id, path from locked order by path collate "C"`,
    [environmentId, path],
  );

/** Ids of all secrets of folders, locked until the transaction ends. */
export async function lockSecretsIn(tx: Transaction, folderIds: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    'select id from secret where folder_id = any($1::uuid[]) order by key collate "C", id for update',
    [folderIds],
  );
  return rows.map(({ id }) => id);
}

/** Deletes a folder with the folders and imports in it. @returns false when it was deleted meanwhile */
export async function deleteFolder(tx: Transaction, id: string): Promise<boolean> {
  return (await query(tx, 'delete from folder where id = $1 returning id', [id])).length === 1;
}
