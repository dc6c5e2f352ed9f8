import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { newId } from '../../../kernel/ids.js';
import type { ProjectAccess } from '../../projects/public.js';
import { lockByIds } from '../core/secret-writes.js';
import { parentOf, pathsDownTo } from '../scope/place.rules.js';

/**
 * Locks secrets until the transaction ends, including deleted ones: for these the latest version is the lock, so that
 * one caller at a time restores a secret.
 */
export async function lockHistories(tx: Transaction, ids: readonly string[]): Promise<void> {
  await lockByIds(tx, ids);
  await query(
    tx,
    `select 1 from secret_version v where v.secret_id = any($1::uuid[])
       and not exists (select from secret s where s.id = v.secret_id)
       and not exists (select from secret_version n where n.secret_id = v.secret_id and n.version > v.version)
     order by v.secret_id for update`,
    [ids],
  );
  // What another caller restored while this one waited.
  await lockByIds(tx, ids);
}

/** An environment where folders are created again. */
interface FolderHome {
  readonly project: ProjectAccess;
  readonly environment: string;
  readonly environmentId: string;
}

/** Folders by path, and the paths of the missing ones, parents first. */
export interface FoundFolders {
  readonly ids: ReadonlyMap<string, string>;
  readonly missing: readonly string[];
}

/** Looks up folders and their parents. @throws PERMISSION_DENIED unless the caller may create the missing ones */
export async function findFolders(
  ctx: Context,
  { project, environment, environmentId }: FolderHome,
  paths: readonly string[],
): Promise<FoundFolders> {
  const wanted = [...new Set(['/', ...paths.flatMap(pathsDownTo)])];
  const rows = await query<{ id: string; path: string }>(
    ctx,
    'select id, path from folder where environment_id = $1 and path = any($2::text[])',
    [environmentId, wanted],
  );
  const ids = new Map(rows.map(({ id, path }) => [path, id]));
  const missing = wanted.filter((path) => !ids.has(path)).sort((a, b) => a.length - b.length);
  for (const path of missing) authorize(project, 'secret-folders:create', { environment, secretPath: parentOf(path) });
  return { ids, missing };
}

/** Creates the missing folders in one statement. @returns IDs of all folders by path */
export async function makeFolders(
  tx: Transaction,
  { project, environmentId }: FolderHome,
  { ids, missing }: FoundFolders,
): Promise<ReadonlyMap<string, string>> {
  if (missing.length === 0) return ids;
  const all = new Map([...ids, ...missing.map((path) => [path, newId()] as const)]);
  await query(
    tx,
    `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
     select id, $5::uuid, $6::uuid, $7::uuid, parent_id, name, path
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as given (id, parent_id, name, path)`,
    [
      missing.map((path) => all.get(path)),
      missing.map((path) => all.get(parentOf(path))),
      missing.map((path) => path.slice(path.lastIndexOf('/') + 1)),
      missing,
      project.organizationId,
      project.projectId,
      environmentId,
    ],
  );
  return all;
}
