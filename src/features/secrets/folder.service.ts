import { authorize, can } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { batched, batchOfLists, listKey } from '../../kernel/database/batched.js';
import { guarded, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { keyPageBounds, Page } from '../../kernel/graphql/page.js';
import { isId } from '../../kernel/ids.js';
import { parse, validationFailed } from '../../kernel/validation.js';
import type { ProjectReader } from '../projects/public.js';
import {
  deleteFolder,
  type FolderRecord,
  findFolder,
  findFolderByPath,
  findPaths,
  insertFolders,
  listFolders,
  listFoldersInEnvironments,
  listSubjects,
  lockContents,
  lockFolders,
  longestPath,
  rewriteFolder,
} from './folder.records.js';
import { CreateFolder, DeleteFolder, GetFolder, ListFolders, UpdateFolder } from './folder.rules.js';
import { folderPath, isShortEnough, joinPath, parentOf, pathsDownTo } from './place.rules.js';
import { loadEnvironmentId, loadOwningProject, loadPlace, loadSecretProject } from './secret-place.js';
import type { KnownEnvironment } from './secret-reading.service.js';
import { fieldsOf } from './visibility.rules.js';

const TAKEN = { folder_path_unique: 'FOLDER_NAME_TAKEN' } as const;

/** Folders of an environment: a tree under `/`, each with its whole path. */
export class FolderService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Makes a folder and whatever is missing above it. One that exists is answered as it is.
   *
   * @param raw `{ projectId, environment, path, name, description }`; the rules are `CreateFolder`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Folders).
   */
  create(ctx: Context, raw: unknown): Promise<FolderRecord> {
    const { projectId, environment, path: parent, name, description } = parse(CreateFolder, raw);
    const path = joinPath(parent, name);
    if (!isShortEnough(path)) throw tooLong('name');
    return inTransaction(ctx, async (tx) => {
      const project = await loadSecretProject(tx, this.projects, projectId);
      authorize(project, 'secret-folders:create');
      const environmentId = await loadEnvironmentId(tx, { projectId, environment });
      authorize(project, 'secret-folders:create', { environment, secretPath: parent });
      const rootId = await lockRoot(tx, environmentId);
      const paths = pathsDownTo(path);
      const existing = await findPaths(tx, environmentId, paths);
      const missing = paths.filter((candidate) => !existing.has(candidate));
      if (missing.length > 0) {
        const topParentId = existing.get(parentOf(missing[0] as string)) ?? rootId;
        const home = { organizationId: project.organizationId, projectId, environmentId, topParentId };
        await insertFolders(
          tx,
          home,
          missing.map((at) => ({
            name: at.slice(at.lastIndexOf('/') + 1),
            path: at,
            description: at === path ? (description ?? null) : null,
          })),
        );
      }
      const folder = await findFolderByPath(tx, environmentId, path);
      if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
      await recordFolder(tx, 'folder:create', folder, { made: missing.length });
      return folder;
    });
  }

  /**
   * Renames a folder, with the paths of all below it, or describes it anew.
   *
   * @param raw `{ projectId, environment, path?, folderId, name?, description? }`; the rules are `UpdateFolder`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, FOLDER_NAME_TAKEN,
   *   AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Folders).
   */
  update(ctx: Context, raw: unknown): Promise<FolderRecord> {
    const { projectId, environment, path: parent, folderId, name, description } = parse(UpdateFolder, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await loadSecretProject(tx, this.projects, projectId);
      authorize(project, 'secret-folders:edit');
      const environmentId = await loadEnvironmentId(tx, { projectId, environment });
      await lockRoot(tx, environmentId);
      const folder = await loadFolder(tx, { environmentId, id: folderId });
      if (parent != null && folder.path !== joinPath(parent, folder.name)) throw new AppError('FOLDER_NOT_FOUND');
      refuseRoot(folder);
      const secretPath = parentOf(folder.path);
      authorize(project, 'secret-folders:edit', { environment, secretPath });
      const path = joinPath(secretPath, name ?? folder.name);
      const grows = path.length - folder.path.length;
      if (grows > 0 && !isShortEnough('/'.repeat((await longestPath(tx, environmentId, folder.path)) + grows)))
        throw tooLong('name');
      const after = {
        name: name ?? folder.name,
        path,
        description: description === undefined ? folder.description : description,
      };
      await guarded(() => rewriteFolder(tx, folder, after), TAKEN);
      await recordFolder(tx, 'folder:update', folder);
      return loadFolder(tx, { environmentId, id: folder.id });
    });
  }

  /**
   * Deletes a folder: an empty one, or with `forceDelete` one with everything in it, for a caller who may delete all of that.
   *
   * @param raw `{ projectId, environment, path, folderIdOrName, forceDelete }`; the rules are `DeleteFolder`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, FOLDER_NOT_EMPTY,
   *   AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Folders).
   */
  delete(ctx: Context, raw: unknown): Promise<FolderRecord> {
    const { projectId, environment, path: parent, folderIdOrName, forceDelete } = parse(DeleteFolder, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await loadSecretProject(tx, this.projects, projectId);
      authorize(project, 'secret-folders:delete');
      const environmentId = await loadEnvironmentId(tx, { projectId, environment });
      await lockRoot(tx, environmentId);
      const folder =
        (await findIn(tx, { environmentId, id: folderIdOrName })) ??
        (await findByName(tx, { environmentId, parent, name: folderIdOrName }));
      if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
      refuseRoot(folder);
      authorize(project, 'secret-folders:delete', { environment, secretPath: parentOf(folder.path) });
      const { isEmpty } = await lockContents(tx, folder.id);
      if (!isEmpty && !forceDelete) throw new AppError('FOLDER_NOT_EMPTY');
      const subjects = isEmpty ? [] : await listSubjects(tx, folder);
      for (const subject of subjects) authorize(project, 'secrets:delete', fieldsOf(subject));
      if (!(await deleteFolder(tx, folder.id))) throw new AppError('FOLDER_NOT_FOUND');
      await recordFolder(tx, 'folder:delete', folder, { deletedSecrets: subjects.length });
      return folder;
    });
  }

  /**
   * One folder by id.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, FOLDER_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Folders).
   */
  async get(ctx: Context, raw: unknown): Promise<FolderRecord> {
    const { id } = parse(GetFolder, raw);
    const folder = isId(id) ? await findFolder(ctx, id) : undefined;
    const project = await loadOwningProject(ctx, this.projects, {
      projectId: folder?.projectId,
      code: 'FOLDER_NOT_FOUND',
    });
    if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
    authorize(project, 'secret-folders:read', { environment: folder.environment, secretPath: parentOf(folder.path) });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'folder:get',
      projectId: folder.projectId,
      facts: { folderId: folder.id },
    });
    return folder;
  }

  /**
   * The folders right under a folder, by name.
   *
   * @param raw `{ projectId, environment, path, first, after }`; the rules are `ListFolders`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Folders).
   */
  async list(ctx: Context, raw: unknown): Promise<Page<FolderRecord>> {
    const { projectId, environment, path, ...request } = parse(ListFolders, raw);
    const bounds = keyPageBounds(request);
    const project = await loadSecretProject(ctx, this.projects, projectId);
    authorize(project, 'secret-folders:read');
    const { folderId } = await loadPlace(ctx, { projectId, environment, secretPath: path });
    authorize(project, 'secret-folders:read', { environment, secretPath: path });
    const page = new Page(await listFolders(ctx, folderId, bounds), request, ({ name }) => [name]);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'folder:list',
      projectId,
      facts: { folderId, count: page.nodes.length },
    });
    return page;
  }

  /**
   * Folders right under one path of an environment that is part of a larger answer; all environments share one statement.
   * Nothing there, or nothing for this caller: empty.
   *
   * @throws VALIDATION_FAILED
   */
  async listInEnvironment(
    ctx: Context,
    at: KnownEnvironment & { slug: string },
    raw: unknown,
  ): Promise<readonly FolderRecord[]> {
    const path = parse(folderPath, raw);
    if (!can(at.access.ability, 'secret-folders:read', { environment: at.slug, secretPath: path })) return [];
    return (await batched(ctx, loadInEnvironments, listKey(at.id, { path }))) ?? [];
  }
}

const tooLong = (path: string): AppError =>
  validationFailed([{ path, code: 'TOO_BIG', message: 'must leave every path at most 2,000 characters' }]);

function refuseRoot({ path }: FolderRecord): void {
  if (path !== '/') return;
  throw validationFailed([
    { path: 'folderId', code: 'ROOT_FOLDER', message: 'may not be the root folder, which every environment has' },
  ]);
}

async function lockRoot(tx: Transaction, environmentId: string): Promise<string> {
  const rootId = await lockFolders(tx, environmentId);
  if (rootId === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
  return rootId;
}

async function findIn(
  tx: Transaction,
  { environmentId, id }: { environmentId: string; id: string },
): Promise<FolderRecord | undefined> {
  const folder = isId(id) ? await findFolder(tx, id) : undefined;
  return folder?.environmentId === environmentId ? folder : undefined;
}

async function findByName(
  tx: Transaction,
  { environmentId, parent, name }: { environmentId: string; parent: string; name: string },
): Promise<FolderRecord | undefined> {
  const path = folderPath.safeParse(joinPath(parent, name));
  return path.success ? findFolderByPath(tx, environmentId, path.data) : undefined;
}

async function loadFolder(tx: Transaction, at: { environmentId: string; id: string }): Promise<FolderRecord> {
  const folder = await findIn(tx, at);
  if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
  return folder;
}

const recordFolder = (
  tx: Transaction,
  action: string,
  { id, environmentId, projectId }: FolderRecord,
  facts: Readonly<Record<string, number>> = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { folderId: id, environmentId, ...facts } });

const loadInEnvironments = batchOfLists<FolderRecord, { path: string }>(
  (ctx, environmentIds, { path }) => listFoldersInEnvironments(ctx, environmentIds, path),
  ({ environmentId }) => environmentId,
);
