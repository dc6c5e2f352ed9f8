import { raw as sql } from '@mikro-orm/core';
import { authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { isId, newId } from '../../../kernel/ids.js';
import { refuseViolations } from '../../../kernel/validation.js';
import type { FieldChange } from '../../identity/permissions/public.js';
import { authorizeNewNames, type ProjectAccess } from '../../projects/public.js';
import { listSubjects, lockFolders, lockStructure } from '../core/secret.queries.js';
import { Folder } from '../entities/folder.entity.js';
import { type FolderRenaming, type ReferenceLocation, rewriteReferencesInto } from '../references/reference-writes.js';
import { isShortEnough, joinPath, parentOf, pathsDownTo } from '../scope/location.rules.js';
import { authorizeRename, mayRenameAll } from '../scope/visibility.rules.js';
import type { FolderChange } from './folder.rules.js';
import {
  type FolderMove,
  type FolderRow,
  findFolders,
  insertRoots,
  type LockedEnvironment,
  listAtLocations,
  listHolding,
  listMoves,
  lockRootFolders,
  setPaths,
  updateFolders,
} from './folder.sql.js';
import { listImporting } from './import.sql.js';

/** Creates the root folder of each new environment, in one statement. */
export async function createRootFolders(
  tx: Transaction,
  environments: readonly { readonly id: string }[],
): Promise<void> {
  if (environments.length === 0) return;
  await insertRoots(tx, { ids: environments.map(newId), environmentIds: environments.map(({ id }) => id) });
}

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
  const rows = await lockRootFolders(tx, { projectId, slugs });
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
  const rows = await listAtLocations(ctx, { environmentIds: wanted.map(() => environmentId), paths: wanted });
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

/** Path of a violation: `newPath` in a call for one folder, `folders[3].newPath` in a batch. */
export type FolderPathOf = (index: number, field: 'id' | 'name' | 'newPath') => string;

/** Changes of folders in environments that are locked. */
interface FolderBatch {
  readonly project: ProjectAccess;
  /** By slug: all that the changes name, and those of folders that are named by ID alone. */
  readonly environments: ReadonlyMap<string, LockedEnvironment>;
  readonly changes: readonly FolderChange[];
  readonly pathOf: FolderPathOf;
}

/** A renamed folder, with all secrets directly in it. */
interface Relocation extends FolderRenaming {
  readonly folderId: string;
}

/**
 * Renames, moves and describes folders. The rows are written first, then the tree determines the new paths, so that one
 * batch may change a folder and one above it. References to the secrets in them are updated.
 *
 * @throws VALIDATION_FAILED, FOLDER_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, FOLDER_NAME_TAKEN,
 * REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE
 */
export async function changeFolders(tx: Transaction, batch: FolderBatch): Promise<void> {
  const { project, environments, changes } = batch;
  const folders = await loadFolders(tx, batch);
  const changed = await placed(tx, batch, folders);
  refuseRoot(folders, (index) => batch.pathOf(index, 'id'));
  for (const { environmentSlug, path } of folders) {
    authorize(project, 'secret-folders:edit', { environment: environmentSlug, secretPath: parentOf(path) });
  }
  await updateFolders(tx, {
    ids: changed.map(({ id }) => id),
    parentIds: changed.map(({ parentId }) => parentId),
    names: changed.map(({ name }) => name),
    descriptions: changed.map(({ description }) => description),
  });
  const environmentIds = [...environments.values()].map(({ environmentId }) => environmentId);
  const relocations = placedMoves(batch, folders, await listMoves(tx, { environmentIds }));
  await authorizeRelocations(tx, project, relocations);
  await writePaths(tx, relocations, changes.length > 1);
  await rewriteReferencesInto(tx, project, relocations);
  await authorizeNewNames(tx, project, () => fieldChangesOf(tx, relocations));
}

/**
 * The attributes that rules match on, of folders and of their direct contents, before and after. A folder itself is
 * listed by its parent.
 */
async function fieldChangesOf(tx: Transaction, relocations: readonly Relocation[]): Promise<FieldChange[]> {
  const ids = relocations.map(({ folderId }) => folderId);
  const holding = new Map((await listHolding(tx, { ids })).map((folder) => [folder.id, folder]));
  const fields = ({ environment }: ReferenceLocation, secretPath: string) => ({ environment, secretPath });
  return relocations.flatMap(({ folderId, from, to }): FieldChange[] => {
    const [before, after] = [fields(from, from.path), fields(to, to.path)];
    const above = { before: fields(from, parentOf(from.path)), after: fields(to, parentOf(to.path)) };
    return [
      { subject: 'secret-folders', before, after },
      { subject: 'secret-folders', ...above },
      ...(holding.get(folderId)?.secrets ? [{ subject: 'secrets' as const, before, after }] : []),
      ...(holding.get(folderId)?.imports ? [{ subject: 'secret-imports' as const, before, after }] : []),
    ];
  });
}

/** @throws VALIDATION_FAILED for a root folder, which its environment needs */
export function refuseRoot(folders: readonly FolderRow[], pathOf: (index: number) => string): void {
  const details = folders.flatMap(({ path }, index): ErrorDetail[] =>
    path === '/'
      ? [
          {
            path: pathOf(index),
            code: 'ROOT_FOLDER',
            message: 'may not be the root folder, which every environment has',
          },
        ]
      : [],
  );
  refuseViolations(details);
}

/** The folders of the changes, in their order. @throws FOLDER_NOT_FOUND, naming each; VALIDATION_FAILED for one named twice */
async function loadFolders(
  tx: Transaction,
  { project, environments, changes, pathOf }: FolderBatch,
): Promise<FolderRow[]> {
  const ids = changes.map(({ id }) => id.toLowerCase());
  const twice = ids.flatMap((id, index): ErrorDetail[] =>
    ids.indexOf(id) === index
      ? []
      : [{ path: pathOf(index, 'id'), code: 'DUPLICATE', message: 'is a duplicate in this batch' }],
  );
  refuseViolations(twice);
  const found = new Map((await findFolders(tx, { ids: ids.filter(isId) })).map((folder) => [folder.id, folder]));
  const folders = changes.map(({ onlyIn }, index) => {
    const folder = found.get(ids[index] as string);
    if (folder?.projectId !== project.projectId) return undefined;
    if (onlyIn == null) return folder;
    if (folder.environmentId !== environments.get(onlyIn.environment)?.environmentId) return undefined;
    return onlyIn.path == null || folder.path === joinPath(onlyIn.path, folder.name) ? folder : undefined;
  });
  return allFound(folders, (index) => pathOf(index, 'id'));
}

/** The new state of the folders; their paths follow. @throws FOLDER_NOT_FOUND for a missing parent folder */
async function placed(tx: Transaction, { changes, pathOf }: FolderBatch, folders: readonly FolderRow[]) {
  const moving = changes.flatMap(({ newPath }, index) => {
    const { environmentId = '' } = folders[index] ?? {};
    return newPath == null ? [] : [{ index, environmentId, path: newPath }];
  });
  const targets = allFound(await findPlaces(tx, moving), (at) => pathOf(moving[at]?.index ?? at, 'newPath'));
  const parentIds = new Map(moving.map(({ index }, at) => [index, targets[at]]));
  return folders.map(({ id, parentId, name, description }, index) => {
    const change = changes[index] as FolderChange;
    return {
      id,
      parentId: parentIds.get(index) ?? (parentId as string),
      name: change.name ?? name,
      description: change.description === undefined ? description : change.description,
    };
  });
}

/** IDs of folders by location, in the order of the locations; undefined for a missing one. */
async function findPlaces(
  tx: Transaction,
  places: readonly { readonly environmentId: string; readonly path: string }[],
): Promise<(string | undefined)[]> {
  if (places.length === 0) return [];
  const rows = await listAtLocations(tx, {
    environmentIds: places.map(({ environmentId }) => environmentId),
    paths: places.map(({ path }) => path),
  });
  const ids = new Map(rows.map(({ id, environmentId, path }) => [environmentId + path, id]));
  return places.map(({ environmentId, path }) => ids.get(environmentId + path));
}

/**
 * Updates the paths of folders.
 *
 * @param areMany several folders were changed: one may take the path that another still has, so all of them get
 * temporary paths first
 * @throws FOLDER_NAME_TAKEN
 */
async function writePaths(tx: Transaction, relocations: readonly Relocation[], areMany: boolean): Promise<void> {
  if (relocations.length === 0) return;
  const ids = relocations.map(({ folderId }) => folderId);
  // No name contains a dot: these paths are free.
  if (areMany) await tx.em.nativeUpdate(Folder, { id: { $in: ids } }, { path: sql(`'/.' || id`) });
  const codes = { folder_path_unique: 'FOLDER_NAME_TAKEN' } as const;
  await withConstraintCodes(() => setPaths(tx, { ids, paths: relocations.map(({ to }) => to.path) }), codes);
}

function allFound<T>(found: readonly (T | undefined)[], pathOf: (index: number) => string): T[] {
  const details = found.flatMap((thing, index): ErrorDetail[] =>
    thing === undefined ? [{ path: pathOf(index), code: 'FOLDER_NOT_FOUND', message: 'is no folder there' }] : [],
  );
  if (details.length > 0) throw new AppError('FOLDER_NOT_FOUND', undefined, { details });
  return found as T[];
}

/** @throws VALIDATION_FAILED for folders that would be moved into themselves, and for paths that become too long */
function placedMoves(
  { changes, pathOf }: FolderBatch,
  folders: readonly FolderRow[],
  moves: readonly FolderMove[],
): Relocation[] {
  const lost = new Set(moves.filter(({ after }) => after === null).map(({ id }) => id));
  const tooLong = moves.filter(({ after }) => after !== null && !isShortEnough(after));
  const details = folders.flatMap(({ id, environmentSlug, path }, index): ErrorDetail[] => {
    if (lost.has(id) && changes[index]?.newPath != null) {
      return [
        { path: pathOf(index, 'newPath'), code: 'FOLDER_INTO_ITSELF', message: 'must not be in the folder itself' },
      ];
    }
    const field = changes[index]?.newPath == null ? 'name' : 'newPath';
    const isViolation = tooLong.some(
      (move) => move.environment === environmentSlug && `${move.before}/`.startsWith(`${path}/`),
    );
    return isViolation
      ? [{ path: pathOf(index, field), code: 'TOO_BIG', message: 'must keep every path at most 2,000 characters' }]
      : [];
  });
  refuseViolations(details);
  return moves.flatMap(({ id, environment, before, after }) =>
    after === null ? [] : [{ folderId: id, from: { environment, path: before }, to: { environment, path: after } }],
  );
}

/**
 * Moving a folder moves everything in it: it requires the right to edit each folder, and to edit and read each secret,
 * at the old and at the new location. Nobody moves a folder to where the rules show them more of it.
 *
 * @throws PERMISSION_DENIED
 */
export async function authorizeRelocations(
  tx: Transaction,
  project: ProjectAccess,
  relocations: readonly Relocation[],
): Promise<void> {
  if (relocations.length === 0) return;
  // Nothing comes in without a check: a secret that is being created either exists, or does not find its folder.
  await lockFolders(tx, { folderIds: relocations.map(({ folderId }) => folderId) });
  for (const { environment, path } of relocations.flatMap(({ from, to }) => [from, to])) {
    // A root folder is the environment itself.
    if (path === '/') continue;
    authorize(project, 'secret-folders:edit', { environment, secretPath: parentOf(path) });
  }
  await refuseShown(tx, project, relocations);
  if (mayRenameAll(project.ability)) return;
  const places = new Map(relocations.map(({ folderId, to }) => [folderId, to]));
  const subjects = await listSubjects(tx, { folderIds: [...places.keys()] });
  await authorizeRename(
    project,
    subjects.map((before) => ({ before, after: { ...before, ...places.get(before.folderId) } })),
  );
}

/**
 * @throws PERMISSION_DENIED where rules would show the caller a folder or its imports at the new location, and not at
 * the old one
 */
async function refuseShown(tx: Transaction, project: ProjectAccess, relocations: readonly Relocation[]): Promise<void> {
  const gains = (action: 'secret-folders:read' | 'secret-imports:read', path: (place: ReferenceLocation) => string) => {
    const may = (at: ReferenceLocation) =>
      can(project.ability, action, { environment: at.environment, secretPath: path(at) });
    return relocations.filter(({ from, to }) => may(to) && !may(from));
  };
  const itself = ({ path }: ReferenceLocation) => path;
  // A folder is listed by rights on its parent, and is the root of its own tree. A root folder has nothing to reveal.
  const folders = [
    ...gains('secret-folders:read', ({ path }) => parentOf(path)),
    ...gains('secret-folders:read', itself),
  ];
  if (folders.some(({ from }) => from.path !== '/')) deny(project, 'secret-folders:read');
  const imports = gains('secret-imports:read', itself).map(({ folderId }) => folderId);
  if (imports.length > 0 && (await listImporting(tx, { folderIds: imports })).length > 0)
    deny(project, 'secret-imports:read');
}

function deny({ projectId }: ProjectAccess, action: 'secret-folders:read' | 'secret-imports:read'): never {
  throw new PermissionDenied({ action, projectId });
}
