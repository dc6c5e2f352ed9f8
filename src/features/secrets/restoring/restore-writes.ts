import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import type { ProjectAccess } from '../../projects/public.js';
import { lockByIds } from '../core/locks.queries.js';
import { insertFolders } from '../folders/folder-writes.js';
import { listPaths } from '../folders/folder-writes.sql.js';
import { parentOf, pathsDownTo } from '../scope/place.rules.js';
import { holdDeleted } from './restore-writes.sql.js';

/**
 * Locks secrets until the transaction ends, including deleted ones: for these the latest version is the lock, so that
 * one caller at a time restores a secret.
 */
export async function lockHistories(tx: Transaction, ids: readonly string[]): Promise<void> {
  await lockByIds(tx, { ids });
  await holdDeleted(tx, { ids });
  // What another caller restored while this one waited.
  await lockByIds(tx, { ids });
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
  const rows = await listPaths(ctx, { environmentId, paths: wanted });
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
  await insertFolders(
    tx,
    { ...project, environmentId },
    missing.map((path) => ({
      id: all.get(path) as string,
      parentId: all.get(parentOf(path)) as string,
      name: path.slice(path.lastIndexOf('/') + 1),
      path,
      description: null,
    })),
  );
  return all;
}
