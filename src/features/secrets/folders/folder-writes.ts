import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import type { CreateRootFolders, ProjectAccess } from '../../projects/public.js';
import { lockStructure } from '../core/secret.queries.js';
import { Folder } from '../entities/folder.entity.js';
import { parentOf, pathsDownTo } from '../scope/place.rules.js';
import { holdRoots, insertRoots, type LockedEnvironment, listAtPlaces } from './folder.queries.js';

/** Creates the root folder of each environment, in one statement. */
export const createRootFolders: CreateRootFolders = async (tx, environments) => {
  if (environments.length === 0) return;
  await insertRoots(tx, { ids: environments.map(newId), environmentIds: environments.map(({ id }) => id) });
};

/**
 * Serializes changes of the folders of environments.
 *
 * @returns those of the environments that exist, by slug
 */
export async function lockEnvironments(
  tx: Transaction,
  projectId: string,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, LockedEnvironment>> {
  await lockStructure(tx, { projectId });
  const rows = await holdRoots(tx, { projectId, slugs });
  return new Map(rows.map((row) => [row.environment, row]));
}

/** An environment where folders are created. */
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
export async function findPaths(
  ctx: Context,
  { project, environment, environmentId }: FolderHome,
  paths: readonly string[],
): Promise<FoundFolders> {
  const wanted = [...new Set(['/', ...paths.flatMap(pathsDownTo)])];
  const rows = await listAtPlaces(ctx, { environmentIds: wanted.map(() => environmentId), paths: wanted });
  const ids = new Map(rows.map(({ id, path }) => [path, id]));
  const missing = wanted.filter((path) => !ids.has(path)).sort((a, b) => a.length - b.length);
  for (const path of missing) authorize(project, 'secret-folders:create', { environment, secretPath: parentOf(path) });
  return { ids, missing };
}

/**
 * Creates the missing folders in one statement.
 *
 * @param described the folder that gets a description, if it is missing
 * @returns IDs of all folders by path
 */
export async function makeFolders(
  tx: Transaction,
  { project: { organizationId, projectId }, environmentId }: FolderHome,
  { ids, missing }: FoundFolders,
  described?: { readonly path: string; readonly description: string | null },
): Promise<ReadonlyMap<string, string>> {
  if (missing.length === 0) return ids;
  const all = new Map([...ids, ...missing.map((path) => [path, newId()] as const)]);
  await tx.em.insertMany(
    Folder,
    missing.map((path) => ({
      id: all.get(path) as string,
      organizationId,
      projectId,
      environmentId,
      parentId: all.get(parentOf(path)) as string,
      name: path.slice(path.lastIndexOf('/') + 1),
      path,
      description: path === described?.path ? described.description : null,
    })),
  );
  return all;
}
