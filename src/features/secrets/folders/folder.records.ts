import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import type { ProjectAccess } from '../../projects/public.js';

/** A folder row with slug and name of its environment. */
export interface FolderRecord {
  readonly id: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly environmentName: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly path: string;
  readonly description: string | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A folder, and its project as the caller sees it. */
export interface ReadFolder extends FolderRecord {
  readonly access: ProjectAccess;
}

/** Adds the caller's access to folders of a project. */
export const withAccess =
  (access: ProjectAccess) =>
  (folder: FolderRecord): ReadFolder => ({ ...folder, access });

const SELECT = `select f.id, f.project_id as "projectId", f.environment_id as "environmentId", e.slug as "environmentSlug",
    e.name as "environmentName", f.parent_id as "parentId", f.name, f.path, f.description, f.version, f.created_at as "createdAt", f.updated_at as "updatedAt"
  from folder f join environment e on e.id = f.environment_id`;

/** One folder by ID. */
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

/** Folders by ID, in no order. */
export const listFoldersByIds = (ctx: Context, ids: readonly string[]): Promise<FolderRecord[]> =>
  query<FolderRecord>(ctx, `${SELECT} where f.id = any($1::uuid[])`, [ids]);

/** Which folders of an environment to list. */
export interface FolderSpan {
  readonly environmentId: string;
  readonly folderId: string;
  readonly path: string;
  /** All folders below it, and not only its direct children. */
  readonly recursive: boolean;
}

/** `/a` -> `/a/`, `/` -> `/`: the prefix of the paths of all folders below. */
const prefixOf = (path: string): string => (path === '/' ? path : `${path}/`);

/** A condition with its parameters, from `$4` on. */
const within = ({ environmentId, folderId, path, recursive }: FolderSpan): [text: string, params: unknown[]] =>
  recursive
    ? [`f.environment_id = $4 and starts_with(f.path, $5) and f.path <> '/'`, [environmentId, prefixOf(path)]]
    : ['f.parent_id = $4', [folderId]];

/**
 * The folders directly in a folder, or all below it, by path (by code points).
 *
 * @param modifiedSince only folders in which a secret was written then or later
 * @param bounds the path to start after (null: from the top), and the row limit (null: all)
 */
export function listFolders(
  ctx: Context,
  span: FolderSpan,
  {
    modifiedSince,
    bounds,
  }: { modifiedSince: Date | null; bounds: readonly [after: string | null, limit: number | null] },
): Promise<FolderRecord[]> {
  const [where, params] = within(span);
  return query<FolderRecord>(
    ctx,
    `${SELECT} where ${where} and ($1::text is null or f.path collate "C" > $1)
       and ($3::timestamptz is null
         or exists (select from secret_version v where v.folder_id = f.id and v.created_at >= $3))
     order by f.path collate "C" limit $2`,
    [...bounds, modifiedSince, ...params],
  );
}

/** A folder and the number of secrets directly in it. */
export interface CountedFolder extends FolderRecord {
  readonly secretCount: number;
}

/** A folder and all below it, by path (by code points), in one statement. */
export const listTree = (
  ctx: Context,
  { environmentId, path }: Pick<FolderSpan, 'environmentId' | 'path'>,
): Promise<CountedFolder[]> =>
  query<CountedFolder>(
    ctx,
    `select f.*, (select count(*)::integer from secret s where s.folder_id = f.id) as "secretCount"
     from (${SELECT} where f.environment_id = $1 and (f.path = $2 or starts_with(f.path, $3))) f order by f.path collate "C"`,
    [environmentId, path, prefixOf(path)],
  );

/** The folders directly in many folders, in one statement. */
export const listSubfolders = (ctx: Context, parentIds: readonly string[]): Promise<FolderRecord[]> =>
  query<FolderRecord>(ctx, `${SELECT} where f.parent_id = any($1::uuid[]) order by f.name collate "C"`, [parentIds]);

/** The folders directly in the same path of many environments, in one statement. */
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
