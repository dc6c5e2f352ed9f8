import type { Transaction } from '../../../kernel/context.js';
import { guarded } from '../../../kernel/database/in-transaction.js';
import { newId } from '../../../kernel/ids.js';
import type { CreateRootFolders } from '../../projects/public.js';
import { lockStructure } from '../core/locks.queries.js';
import {
  clearPaths,
  findContents,
  holdFolder,
  holdRoots,
  insertFolderRows,
  insertRoots,
  type LockedEnvironment,
  listAtPlaces,
  setPaths,
  updateFolderRows,
} from './folder-writes.sql.js';

const TAKEN = { folder_path_unique: 'FOLDER_NAME_TAKEN' } as const;

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

/** IDs of folders by location, in the order of the locations; undefined for a missing one. */
export async function findPlaces(
  tx: Transaction,
  places: readonly { readonly environmentId: string; readonly path: string }[],
): Promise<(string | undefined)[]> {
  if (places.length === 0) return [];
  const rows = await listAtPlaces(tx, {
    environmentIds: places.map(({ environmentId }) => environmentId),
    paths: places.map(({ path }) => path),
  });
  const ids = new Map(rows.map(({ id, at }) => [at - 1, id]));
  return places.map((_, index) => ids.get(index));
}

/** The location of new folders. */
interface FolderHome {
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
}

/** A folder as it is inserted, or written anew. Its path follows. */
export interface ChangedFolder {
  readonly id: string;
  readonly parentId: string;
  readonly name: string;
  readonly description: string | null;
}

const columnsOf = (folders: readonly ChangedFolder[]) => ({
  ids: folders.map(({ id }) => id),
  parentIds: folders.map(({ parentId }) => parentId),
  names: folders.map(({ name }) => name),
  descriptions: folders.map(({ description }) => description),
});

/** Inserts folders, parents first, in one statement. */
export async function insertFolders(
  tx: Transaction,
  { organizationId, projectId, environmentId }: FolderHome,
  folders: readonly (ChangedFolder & { readonly path: string })[],
): Promise<void> {
  const paths = folders.map(({ path }) => path);
  await insertFolderRows(tx, { organizationId, projectId, environmentId, ...columnsOf(folders), paths });
}

/** Creates the root folder of each environment, in one statement. */
export const createRootFolders: CreateRootFolders = async (tx, environments) => {
  if (environments.length === 0) return;
  await insertRoots(tx, { ids: environments.map(newId), environmentIds: environments.map(({ id }) => id) });
};

/** Writes the new state of folders. Their paths and those of all below them are updated separately: see `listMoves`. */
export const writeFolders = (tx: Transaction, folders: readonly ChangedFolder[]) =>
  updateFolderRows(tx, columnsOf(folders));

/**
 * Updates the paths of folders.
 *
 * @param areMany several folders were changed: one may take the path that another still has, so all of them get
 * temporary paths first
 * @throws FOLDER_NAME_TAKEN
 */
export async function writePaths(
  tx: Transaction,
  folders: readonly { readonly id: string; readonly path: string }[],
  areMany: boolean,
): Promise<void> {
  if (folders.length === 0) return;
  const ids = folders.map(({ id }) => id);
  if (areMany) await clearPaths(tx, { ids });
  await guarded(() => setPaths(tx, { ids, paths: folders.map(({ path }) => path) }), TAKEN);
}

/** Locks a folder against new secrets and folders in it, and returns whether it contains any, or imports. */
export async function lockContents(tx: Transaction, id: string): Promise<{ isEmpty: boolean }> {
  await holdFolder(tx, { id });
  const [row] = await findContents(tx, { id });
  return { isEmpty: row?.isEmpty ?? true };
}
