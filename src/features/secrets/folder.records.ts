import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import type { keyPageBounds } from '../../kernel/graphql/page.js';
import { newId } from '../../kernel/ids.js';

/** A folder row with the slug of its environment. */
export interface FolderRecord {
  readonly id: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly path: string;
  readonly description: string | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const SELECT = `select f.id, f.project_id as "projectId", f.environment_id as "environmentId", e.slug as environment,
    f.parent_id as "parentId", f.name, f.path, f.description, f.version, f.created_at as "createdAt", f.updated_at as "updatedAt"
  from folder f join environment e on e.id = f.environment_id`;

/** One folder by id. */
export async function findFolder(ctx: Context, id: string): Promise<FolderRecord | undefined> {
  const [found] = await query<FolderRecord>(ctx, `${SELECT} where f.id = $1`, [id]);
  return found;
}

/** One folder of an environment by its path. */
export async function findFolderByPath(
  ctx: Context,
  environmentId: string,
  path: string,
): Promise<FolderRecord | undefined> {
  const [found] = await query<FolderRecord>(ctx, `${SELECT} where f.environment_id = $1 and f.path = $2`, [
    environmentId,
    path,
  ]);
  return found;
}

/** The folders right under a folder, by name (by code points). @param bounds as `keyPageBounds` gives them */
export const listFolders = (
  ctx: Context,
  parentId: string,
  bounds: ReturnType<typeof keyPageBounds>,
): Promise<FolderRecord[]> =>
  query<FolderRecord>(
    ctx,
    `${SELECT} where f.parent_id = $1 and ($2::text is null or f.name collate "C" > $2) order by f.name collate "C" limit $3`,
    [parentId, ...bounds],
  );

/** The folders right under the same path of many environments, in one statement. */
export const listFoldersInEnvironments = (
  ctx: Context,
  environmentIds: readonly string[],
  path: string,
): Promise<FolderRecord[]> =>
  query<FolderRecord>(
    ctx,
    `${SELECT} join folder parent on parent.id = f.parent_id
     where parent.environment_id = any($1::uuid[]) and parent.path = $2 order by f.name collate "C"`,
    [environmentIds, path],
  );

/**
 * Makes changes of the folders of one environment wait for each other. The root folder's row is the lock, in a mode that
 * secrets written meanwhile do not feel.
 *
 * @returns id of the root folder; undefined when the environment has gone
 */
export async function lockFolders(tx: Transaction, environmentId: string): Promise<string | undefined> {
  const [root] = await query<{ id: string }>(
    tx,
    `select id from folder where environment_id = $1 and path = '/' for no key update`,
    [environmentId],
  );
  return root?.id;
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

/** Inserts folders, each under the one before, in one statement. */
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

/** Length of the longest path at or below a path. */
export async function longestPath(tx: Transaction, environmentId: string, path: string): Promise<number> {
  const [row] = await query<{ longest: number }>(
    tx,
    `select max(char_length(path)) as longest from folder
     where environment_id = $1 and (path = $2 or starts_with(path, $2 || '/'))`,
    [environmentId, path],
  );
  return row?.longest ?? 0;
}

/** Gives a folder its name, description and path, and all below it their paths, in one statement. */
export async function rewriteFolder(
  tx: Transaction,
  { id, environmentId, path }: FolderRecord,
  after: { name: string; path: string; description: string | null },
): Promise<void> {
  await query(
    tx,
    `update folder set path = $3 || substr(path, char_length($2) + 1),
       name = case when id = $4::uuid then $5 else name end,
       description = case when id = $4::uuid then $6 else description end,
       version = version + case when id = $4::uuid then 1 else 0 end,
       updated_at = case when id = $4::uuid then now() else updated_at end
     where environment_id = $1 and (path = $2 or starts_with(path, $2 || '/'))`,
    [environmentId, path, after.path, id, after.name, after.description],
  );
}

/** Locks a folder against new secrets and folders in it, and tells whether it holds any. */
export async function lockContents(tx: Transaction, id: string): Promise<{ isEmpty: boolean }> {
  await query(tx, 'select id from folder where id = $1 for update', [id]);
  const [row] = await query<{ isEmpty: boolean }>(
    tx,
    `select not exists (select from secret where folder_id = $1) and not exists (select from folder where parent_id = $1) as "isEmpty"`,
    [id],
  );
  return { isEmpty: row?.isEmpty ?? true };
}

/** What the secrets at and below a path are, for rules that look at single ones. */
export const listSubjects = (
  tx: Transaction,
  { environmentId, path }: FolderRecord,
): Promise<{ environment: string; path: string; key: string; tags: { slug: string }[] }[]> =>
  query(
    tx,
    `select e.slug as environment, f.path, s.key,
       coalesce((select json_agg(json_build_object('slug', t.slug)) from secret_tag st join tag t on t.id = st.tag_id
                 where st.secret_id = s.id), '[]') as tags
     from secret s join folder f on f.id = s.folder_id join environment e on e.id = s.environment_id
     where f.environment_id = $1 and (f.path = $2 or starts_with(f.path, $2 || '/'))`,
    [environmentId, path],
  );

/** Deletes a folder with everything in it. @returns false when it has just gone */
export async function deleteFolder(tx: Transaction, id: string): Promise<boolean> {
  return (await query(tx, 'delete from folder where id = $1 returning id', [id])).length === 1;
}
