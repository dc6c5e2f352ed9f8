import { LockMode } from '@mikro-orm/core';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { environmentNotFound, type ProjectAccess, type ProjectReader } from '../../projects/public.js';
import { loadSecretProject } from '../core/load-folder.js';
import { refuseFoldersOfRotations } from '../core/rotated-guard.js';
import { listSubjects, lockSecretsIn, lockStructure } from '../core/secret.queries.js';
import { deleteSecrets } from '../core/secret-writes.js';
import { Folder } from '../entities/folder.entity.js';
import { folderPath, isShortEnough, joinPath, parentOf } from '../scope/location.rules.js';
import { fieldsOf } from '../scope/visibility.rules.js';
import {
  CreateFolder,
  DeleteFolder,
  DeleteFolderByName,
  type FolderChange,
  UpdateFolder,
  UpdateFolders,
} from './folder.rules.js';
import {
  type FolderRow,
  findFolderByPath,
  findFolders,
  type LockedEnvironment,
  listHolding,
  lockTree,
  type ReadFolder,
  withAccess,
} from './folder.sql.js';
import {
  changeFolders,
  type FolderPathOf,
  findPaths,
  lockEnvironments,
  makeFolders,
  refuseRoot,
} from './folder-changes.js';
import { listImporters, listImporting } from './import.sql.js';

/** Maximum number of importing folders that are named where they prevent a deletion. */
const MAX_NAMED_IMPORTERS = 20;

const alone: FolderPathOf = (_index, field) => field;
const inBatch: FolderPathOf = (index, field) => (field === 'id' ? `folders[${index}]` : `folders[${index}].${field}`);

/** Folders of an environment: a tree under `/`, each with its full path. */
export class FolderService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Creates a folder and its missing parents. An existing one is returned as it is, without its description to callers
   * who may not read it.
   *
   * @param raw `{ projectId, environment, path, name, description }`; the rules are `CreateFolder`
   * @param isNew whether an existing one is refused
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NAME_TAKEN, AUDIT_UNAVAILABLE
   */
  create(ctx: Context, raw: unknown, { isNew = false } = {}): Promise<{ folder: ReadFolder; created: boolean }> {
    const { projectId, environment, path: parent, name, description } = parse(CreateFolder, raw);
    const path = joinPath(parent, name);
    if (!isShortEnough(path)) {
      throw validationFailed([
        { path: 'name', code: 'TOO_BIG', message: 'must keep the path at most 2,000 characters' },
      ]);
    }
    return inTransaction(ctx, async (tx) => {
      const project = await loadSecretProject(tx, this.projects, projectId);
      authorize(project, 'secret-folders:create');
      const { environmentId } = await lockEnvironment(tx, projectId, environment);
      authorize(project, 'secret-folders:create', { environment, secretPath: parent });
      const location = { project, environment, environmentId };
      const found = await findPaths(tx, location, [path]);
      const created = found.missing.includes(path);
      if (isNew && !created) throw new AppError('FOLDER_NAME_TAKEN');
      await makeFolders(tx, location, found, { path, description: description ?? null });
      const [folder] = await findFolderByPath(tx, { environmentId, path });
      if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
      await recordFolder(tx, 'folder:create', folder, { made: found.missing.length });
      return { folder: answered(project, folder, created), created };
    });
  }

  /**
   * Renames a folder, moves it, or changes its description. Everything in it moves with it, imports from it stay, and
   * references to its secrets are updated.
   *
   * @param raw `{ id, onlyIn?, name?, newPath?, description? }`; the rules are `UpdateFolder`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * FOLDER_NAME_TAKEN, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE, AUDIT_UNAVAILABLE
   */
  update(ctx: Context, raw: unknown): Promise<ReadFolder> {
    const change = parse(UpdateFolder, raw);
    return inTransaction(ctx, async (tx) => {
      const { id, onlyIn } = change;
      const project = onlyIn == null ? await this.#owning(tx, id) : await this.#project(tx, onlyIn.projectId);
      const [folder] = await this.#change(tx, project, { changes: [change], pathOf: alone });
      if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
      await recordFolder(tx, 'folder:update', folder);
      return folder;
    });
  }

  /**
   * Updates up to 1,000 folders of a project at once, all or nothing. Paths in the input refer to the state before, so
   * that two folders may swap locations.
   *
   * @param raw `{ projectId, folders }`; the rules are `UpdateFolders`
   * @returns the folders, in the order of the changes
   * @throws as `update`, with every violation
   */
  updateBatch(ctx: Context, raw: unknown): Promise<ReadFolder[]> {
    const { projectId, folders: changes } = parse(UpdateFolders, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.#project(tx, projectId);
      const folders = await this.#change(tx, project, { changes, pathOf: inBatch });
      await tx.auditTrail.recordChange(tx, {
        action: 'folder:update',
        projectId,
        facts: { count: folders.length, folderIds: folders.map(({ id }) => id) },
      });
      return folders;
    });
  }

  /**
   * Deletes a folder: an empty one, or with `forceDelete` one with everything in it, for a caller who may delete all of
   * that. A folder that folders outside of it import from cannot be deleted.
   *
   * @param raw `{ id, forceDelete }`; the rules are `DeleteFolder`
   * @throws VALIDATION_FAILED, FOLDER_NOT_FOUND, PERMISSION_DENIED, FOLDER_NOT_EMPTY, FOLDER_IMPORTED,
   * SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  delete(ctx: Context, raw: unknown): Promise<ReadFolder> {
    const { id, forceDelete } = parse(DeleteFolder, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.#owning(tx, id);
      authorize(project, 'secret-folders:delete');
      // It may have been moved meanwhile, and its environment renamed.
      await lockStructure(tx, project);
      const folder = await loadRow(tx, findFolders, { ids: [id] }, 'FOLDER_NOT_FOUND');
      await lockEnvironment(tx, project.projectId, folder.environmentSlug);
      return deleteFound(tx, project, { folder, forceDelete, at: 'id' });
    });
  }

  /**
   * The same for a folder of an environment that is identified by name, or in REST by name or ID.
   *
   * @param raw `{ projectId, environment, path, name, forceDelete }`; the rules are `DeleteFolderByName`
   * @throws as `delete`, and PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND
   */
  deleteByName(ctx: Context, raw: unknown): Promise<ReadFolder> {
    const { projectId, environment, path: parent, name, forceDelete } = parse(DeleteFolderByName, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.#project(tx, projectId);
      authorize(project, 'secret-folders:delete');
      const { environmentId } = await lockEnvironment(tx, projectId, environment);
      const folder =
        (await findIn(tx, { environmentId, id: name })) ?? (await findByName(tx, { environmentId, parent, name }));
      if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
      return deleteFound(tx, project, { folder, forceDelete, at: 'name' });
    });
  }

  #project(tx: Transaction, projectId: string): Promise<ProjectAccess> {
    return loadSecretProject(tx, this.projects, projectId);
  }

  /** The project of a folder that is identified by ID alone. @throws FOLDER_NOT_FOUND */
  async #owning(tx: Transaction, id: string): Promise<ProjectAccess> {
    const [folder] = isId(id) ? await findFolders(tx, { ids: [id] }) : [];
    return this.projects.loadOwning(tx, folder?.projectId, 'FOLDER_NOT_FOUND');
  }

  async #change(
    tx: Transaction,
    project: ProjectAccess,
    batch: { changes: readonly FolderChange[]; pathOf: FolderPathOf },
  ): Promise<ReadFolder[]> {
    authorize(project, 'secret-folders:edit');
    const slugs = await environmentsOf(tx, project, batch.changes);
    const environments = await lockEnvironments(tx, project.projectId, slugs);
    if (environments.size < slugs.length) throw await environmentNotFound(tx, project.projectId, ...slugs);
    await changeFolders(tx, { project, environments, ...batch });
    const ids = batch.changes.map(({ id }) => id.toLowerCase());
    const after = new Map((await findFolders(tx, { ids })).map((folder) => [folder.id, folder]));
    return batch.changes.map(({ description }, index) =>
      answered(project, after.get(ids[index] as string) as FolderRow, description !== undefined),
    );
  }
}

/**
 * Slugs of the environments that changes name, and of those of folders that are identified by ID alone. If there are
 * such folders, none of them moves until the transaction ends.
 */
async function environmentsOf(
  tx: Transaction,
  { projectId }: ProjectAccess,
  changes: readonly FolderChange[],
): Promise<string[]> {
  const slugs = changes.flatMap(({ onlyIn }) => onlyIn?.environment ?? []);
  const ids = changes.flatMap(({ id, onlyIn }) => (onlyIn == null && isId(id) ? [id] : []));
  if (ids.length > 0) {
    await lockStructure(tx, { projectId });
    for (const folder of await findFolders(tx, { ids }))
      if (folder.projectId === projectId) slugs.push(folder.environmentSlug);
  }
  return [...new Set(slugs)];
}

/** Deletes a folder of an environment that is locked. @param given `at`: path of its name in the request */
async function deleteFound(
  tx: Transaction,
  project: ProjectAccess,
  { folder, forceDelete, at }: { folder: FolderRow; forceDelete: boolean; at: 'id' | 'name' },
): Promise<ReadFolder> {
  const { environmentSlug: environment } = folder;
  refuseRoot([folder], () => at);
  authorize(project, 'secret-folders:delete', { environment, secretPath: parentOf(folder.path) });
  // Against new secrets and folders in it.
  await tx.em.findOne(Folder, { id: folder.id }, { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE });
  const [holding] = await listHolding(tx, { ids: [folder.id] });
  const isEmpty = holding === undefined || !(holding.folders || holding.secrets || holding.imports);
  if (!isEmpty && !forceDelete) throw new AppError('FOLDER_NOT_EMPTY');
  const tree = isEmpty ? [folder] : await lockTree(tx, folder);
  await refuseImported(tx, project, { tree, at });
  if (isEmpty) await refuseFoldersOfRotations(tx, [folder.id], at);
  const deletedSecrets = isEmpty ? 0 : await deleteContents(tx, project, { environment, tree, at });
  if ((await tx.em.nativeDelete(Folder, { id: folder.id })) === 0) throw new AppError('FOLDER_NOT_FOUND');
  await recordFolder(tx, 'folder:delete', folder, { deletedFolders: tree.length, deletedSecrets });
  return answered(project, folder);
}

/**
 * A folder in the response of a change: its description only for callers who may read it, or have just written it.
 *
 * @param isDescribed the change sets the description
 */
function answered(project: ProjectAccess, folder: FolderRow, isDescribed = false): ReadFolder {
  const at = { environment: folder.environmentSlug, secretPath: parentOf(folder.path) };
  const isReported = isDescribed || can(project.ability, 'secret-folders:read', at);
  return withAccess(project)(isReported ? folder : { ...folder, description: null });
}

async function lockEnvironment(tx: Transaction, projectId: string, environment: string): Promise<LockedEnvironment> {
  const locked = (await lockEnvironments(tx, projectId, [environment])).get(environment);
  if (locked === undefined) throw await environmentNotFound(tx, projectId, environment);
  return locked;
}

async function findIn(
  tx: Transaction,
  { environmentId, id }: { environmentId: string; id: string },
): Promise<FolderRow | undefined> {
  const [folder] = isId(id) ? await findFolders(tx, { ids: [id] }) : [];
  return folder?.environmentId === environmentId ? folder : undefined;
}

async function findByName(
  tx: Transaction,
  { environmentId, parent, name }: { environmentId: string; parent: string; name: string },
): Promise<FolderRow | undefined> {
  const path = folderPath.safeParse(joinPath(parent, name));
  const [folder] = path.success ? await findFolderByPath(tx, { environmentId, path: path.data }) : [];
  return folder;
}

/**
 * Imports from outside of a locked tree prevent its deletion; those inside are deleted with it. An import that is being
 * created locks its source, so that none can appear between this check and the deletion.
 *
 * @throws FOLDER_IMPORTED, naming the importing folders, as far as the caller may see them
 */
async function refuseImported(
  tx: Transaction,
  { ability }: ProjectAccess,
  { tree, at }: { tree: readonly { readonly id: string }[]; at: 'id' | 'name' },
): Promise<void> {
  const importers = await listImporters(tx, { folderIds: tree.map(({ id }) => id) });
  if (importers.length === 0) return;
  const violation = (message: string): ErrorDetail => ({ path: at, code: 'FOLDER_IMPORTED', message });
  const named = importers
    .filter(({ environment, path }) => can(ability, 'secret-imports:read', { environment, secretPath: path }))
    .slice(0, MAX_NAMED_IMPORTERS)
    .map(({ environment, path, sourcePath }) =>
      violation(`is in use: ${path} of ${environment} imports ${sourcePath}`),
    );
  const others = importers.length - named.length;
  const details = others === 0 ? named : [...named, violation(`is in use: ${others} imports are not named here`)];
  throw new AppError('FOLDER_IMPORTED', undefined, { details });
}

/**
 * Deletes the secrets of a locked tree, so that each gets a deletion in its history; folders and imports are deleted
 * with the folder.
 *
 * @returns the number of secrets
 * @throws PERMISSION_DENIED unless the caller may delete everything in the tree; ROTATED_SECRET
 */
async function deleteContents(
  tx: Transaction,
  project: ProjectAccess,
  {
    environment,
    tree,
    at,
  }: { environment: string; tree: readonly { readonly id: string; readonly path: string }[]; at: 'id' | 'name' },
): Promise<number> {
  for (const { path } of tree) authorize(project, 'secret-folders:delete', { environment, secretPath: parentOf(path) });
  const folderIds = tree.map(({ id }) => id);
  for (const { path } of await listImporting(tx, { folderIds })) {
    authorize(project, 'secret-imports:delete', { environment, secretPath: path });
  }
  const secretIds = (await lockSecretsIn(tx, { folderIds })).map(({ id }) => id);
  // Read after the lock and not with it: a statement that waited for the lock would see the old tags.
  const subjects = secretIds.length === 0 ? [] : await listSubjects(tx, { folderIds });
  for (const subject of subjects) authorize(project, 'secrets:delete', fieldsOf(subject));
  await refuseFoldersOfRotations(tx, folderIds, at);
  await deleteSecrets(tx, secretIds);
  return secretIds.length;
}

const recordFolder = (
  tx: Transaction,
  action: string,
  { id, environmentId, projectId }: FolderRow,
  facts: Readonly<Record<string, number>> = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { folderId: id, environmentId, ...facts } });
