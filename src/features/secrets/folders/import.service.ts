import { raw as sql } from '@mikro-orm/core';
import type { z } from 'zod';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfLists, batchOfOwned, listKey } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { type ConstraintCodes, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, newId } from '../../../kernel/ids.js';
import {
  type CountedConnectionOf,
  counted,
  decodeCursor,
  Page,
  type PageRequest,
  positionKey,
  rowLimit,
} from '../../../kernel/paging.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { type FoundFolder, loadFolder, loadSecretProject } from '../core/load-folder.js';
import { lockStructure } from '../core/secret.queries.js';
import { SecretImport } from '../entities/import.entity.js';
import type { VisibleEnvironment } from '../reading/secret-reading.service.js';
import { folderPath, type SecretLocation } from '../scope/location.rules.js';
import type { ReadFolder } from './folder.sql.js';
import { CreateImport, DeleteImport, GetImport, ListImports, UpdateImport } from './import.rules.js';
import {
  findImports,
  findReached,
  type ImportRow,
  insertImport,
  listImports,
  listImportsInEnvironments,
  listImportsOf,
  lockImportedFolders,
  moveImport,
} from './import.sql.js';

/** What another caller may have created or deleted since the lookup. */
const CODES: ConstraintCodes = {
  secret_import_source_unique: 'IMPORT_EXISTS',
  secret_import_folder_id_fkey: 'FOLDER_NOT_FOUND',
  secret_import_project_id_fkey: 'PROJECT_NOT_FOUND',
};

type Action = 'secret-imports:read' | 'secret-imports:create' | 'secret-imports:edit' | 'secret-imports:delete';

/** An importing folder, in a project where the caller may perform the action on its imports. */
interface Importing extends FoundFolder {
  readonly project: ProjectAccess;
}

/**
 * Imports: a folder makes the secrets of other folders of the project available to its readers. They never form a
 * cycle.
 */
export class ImportService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Imports a folder into another one, after its existing imports. The caller must be allowed to see secrets at the
   * source.
   *
   * @param raw `{ projectId, environment, path, sourceEnvironment, sourcePath }`; the rules are `CreateImport`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * IMPORT_EXISTS, IMPORT_CYCLE, AUDIT_UNAVAILABLE
   */
  create(ctx: Context, raw: unknown): Promise<ImportRow> {
    const { sourceEnvironment, sourcePath, path: secretPath, ...at } = parse(CreateImport, raw);
    return inTransaction(ctx, async (tx) => {
      const importing = await this.#importing(tx, { ...at, secretPath }, 'secret-imports:create');
      const { project, folderId } = importing;
      const source = { projectId: at.projectId, environment: sourceEnvironment, secretPath: sourcePath };
      const { folderId: sourceFolderId } = await loadSource(tx, importing, source);
      await lockStructure(tx, project);
      await refuseCycle(tx, { folderId, sourceFolderId });
      const row = { id: newId(), folderId, sourceFolderId };
      await withConstraintCodes(() => insertImport(tx, { ...project, ...row }), CODES);
      return recorded(tx, 'secret-import:create', await load(tx, row.id));
    });
  }

  /**
   * Changes the source of an import, or its position in its folder.
   *
   * @param raw `{ id, onlyIn?, sourceEnvironment?, sourcePath?, position? }`; the rules are `UpdateImport`; a position
   * beyond the end means the last one
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * IMPORT_NOT_FOUND, IMPORT_EXISTS, IMPORT_CYCLE, AUDIT_UNAVAILABLE
   */
  update(ctx: Context, raw: unknown): Promise<ImportRow> {
    const { sourceEnvironment, sourcePath, position, ...given } = parse(UpdateImport, raw);
    return inTransaction(ctx, async (tx) => {
      const { project, before } = await this.#locked(tx, given, 'secret-imports:edit');
      const { folderId } = before.folder;
      if (sourceEnvironment !== undefined || sourcePath !== undefined) {
        const source = {
          projectId: project.projectId,
          environment: sourceEnvironment ?? before.source.environmentSlug,
          secretPath: sourcePath ?? before.source.path,
        };
        const { folderId: sourceFolderId } = await loadSource(tx, { project, folderId }, source);
        await refuseCycle(tx, { folderId, sourceFolderId });
        const change = { sourceFolderId, updatedAt: sql('now()') };
        await withConstraintCodes(() => tx.em.nativeUpdate(SecretImport, { id: before.id }, change), CODES);
      }
      if (position !== undefined)
        await moveImport(tx, { id: before.id, folderId, position: before.position, wanted: position });
      return recorded(tx, 'secret-import:update', await load(tx, before.id));
    });
  }

  /**
   * Deletes an import; the positions of later ones decrease by one.
   *
   * @param raw `{ id, onlyIn? }`; the rules are `DeleteImport`
   * @returns the deleted import
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * IMPORT_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  delete(ctx: Context, raw: unknown): Promise<ImportRow> {
    const given = parse(DeleteImport, raw);
    return inTransaction(ctx, async (tx) => {
      const { before } = await this.#locked(tx, given, 'secret-imports:delete');
      const { id, position, folder } = before;
      await tx.em.nativeDelete(SecretImport, { id });
      const behind = { folderId: folder.folderId, position: { $gt: position } };
      await tx.em.nativeUpdate(SecretImport, behind, { position: sql('position - 1') });
      return recorded(tx, 'secret-import:delete', before);
    });
  }

  /**
   * One import by id.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, IMPORT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<ImportRow> {
    const { id } = parse(GetImport, raw);
    const { project, found } = await this.#owned(ctx, id);
    authorize(project, 'secret-imports:read', fieldsOf(found.folder));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-import:get',
      projectId: found.projectId,
      facts: { importId: found.id },
    });
    return found;
  }

  /**
   * The imports of a folder, by position. Each names its source, also one whose secrets the caller may not read.
   *
   * @param raw `{ projectId, environment, path, first?, after? }`; the rules are `ListImports`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<ImportRow>> {
    const { projectId, environment, path: secretPath, ...request } = parse(ListImports, raw);
    const after = positionOf(request);
    const { folderId } = await this.#importing(ctx, { projectId, environment, secretPath }, 'secret-imports:read');
    const rows = await listImports(ctx, { folderId, after, limit: rowLimit(request) });
    const page = new Page(rows, request, positionKey);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-import:list',
      projectId,
      facts: { folderId, count: page.nodes.length },
    });
    return counted(page, () => emOf(ctx).count(SecretImport, { folderId }));
  }

  /**
   * Imports of the folder at one path of an environment that is part of a larger response; all environments share one
   * statement. Empty if the folder does not exist.
   *
   * @throws VALIDATION_FAILED, PERMISSION_DENIED
   */
  async listInEnvironment(
    ctx: Context,
    at: VisibleEnvironment & { slug: string },
    raw: unknown,
  ): Promise<readonly ImportRow[]> {
    const path = parse(folderPath, raw);
    authorize(at.access, 'secret-imports:read', { environment: at.slug, secretPath: path });
    return (await batched(ctx, loadInEnvironments, listKey(at.id, { path }))) ?? [];
  }

  /**
   * Imports of a folder that is part of a larger response; all folders share one statement.
   *
   * @throws PERMISSION_DENIED
   */
  async listInFolder(ctx: Context, { id, environmentSlug, path, access }: ReadFolder): Promise<readonly ImportRow[]> {
    authorize(access, 'secret-imports:read', { environment: environmentSlug, secretPath: path });
    return (await batched(ctx, loadByFolder, id)) ?? [];
  }

  /** An import and its project. @throws IMPORT_NOT_FOUND */
  async #owned(ctx: Context, id: string): Promise<{ project: ProjectAccess; found: ImportRow }> {
    const [found] = isId(id) ? await findImports(ctx, { ids: [id] }) : [];
    const code = 'IMPORT_NOT_FOUND';
    const project = await this.projects.loadOwning(ctx, found?.projectId, code);
    if (found === undefined) throw new AppError(code);
    return { project, found };
  }

  /**
   * An import on which the caller may perform the action. It cannot be changed, nor its folders moved, until the
   * transaction ends.
   *
   * @param given `onlyIn`: the folder whose import it must be; any when absent
   * @throws IMPORT_NOT_FOUND, PERMISSION_DENIED; with `onlyIn` PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND,
   * FOLDER_NOT_FOUND
   */
  async #locked(
    tx: Transaction,
    { id, onlyIn }: z.output<typeof DeleteImport>,
    action: Action,
  ): Promise<{ project: ProjectAccess; before: ImportRow }> {
    if (onlyIn != null) {
      const { path: secretPath, ...at } = onlyIn;
      const { project, folderId } = await this.#importing(tx, { ...at, secretPath }, action);
      await lockStructure(tx, project);
      return { project, before: await loadIn(tx, folderId, id) };
    }
    const { project } = await this.#owned(tx, id);
    authorize(project, action);
    await lockStructure(tx, project);
    // Its folder may have been moved meanwhile.
    const before = await load(tx, id);
    authorize(project, action, fieldsOf(before.folder));
    return { project, before };
  }

  async #importing(ctx: Context, place: SecretLocation, action: Action): Promise<Importing> {
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    // A caller who may do this nowhere learns nothing about environments and folders.
    authorize(project, action);
    const found = await loadFolder(ctx, place);
    authorize(project, action, { environment: place.environment, secretPath: place.secretPath });
    return { project, ...found };
  }
}

const fieldsOf = ({ environmentSlug, path }: ImportRow['folder']) => ({
  environment: environmentSlug,
  secretPath: path,
});

/**
 * The folder to import from. An import shows its readers what is there, so its creator must be allowed to see it too.
 *
 * @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, PERMISSION_DENIED, VALIDATION_FAILED for the importing folder itself
 */
async function loadSource(
  tx: Transaction,
  { project, folderId }: Pick<Importing, 'project' | 'folderId'>,
  source: SecretLocation,
): Promise<FoundFolder> {
  const found = await loadFolder(tx, source);
  const { environment, secretPath } = source;
  authorize(project, 'secrets:describeSecret', { environment, secretPath });
  if (found.folderId === folderId) {
    throw validationFailed([
      { path: 'sourcePath', code: 'IMPORT_OF_ITSELF', message: 'must not be the importing folder' },
    ]);
  }
  return found;
}

/**
 * Under the lock of imports. The folders are locked first: a deletion of one of them comes before, or finds the import.
 */
async function refuseCycle(
  tx: Transaction,
  { folderId, sourceFolderId }: { folderId: string; sourceFolderId: string },
): Promise<void> {
  if ((await lockImportedFolders(tx, { folderIds: [folderId, sourceFolderId] })).length < 2)
    throw new AppError('FOLDER_NOT_FOUND');
  const [found] = await findReached(tx, { from: sourceFolderId, to: folderId });
  if (found?.isReached === true) throw new AppError('IMPORT_CYCLE');
}

const load = (tx: Transaction, id: string): Promise<ImportRow> =>
  loadRow(tx, findImports, { ids: [id] }, 'IMPORT_NOT_FOUND');

async function loadIn(tx: Transaction, folderId: string, id: string): Promise<ImportRow> {
  const found = await load(tx, id);
  if (found.folder.folderId !== folderId) throw new AppError('IMPORT_NOT_FOUND');
  return found;
}

/** @throws VALIDATION_FAILED for an invalid cursor */
function positionOf({ after }: PageRequest): number | null {
  const [position] = after == null ? [] : decodeCursor(after, 1);
  return position === undefined ? null : Number(position);
}

async function recorded(tx: Transaction, action: string, given: ImportRow): Promise<ImportRow> {
  const { id, projectId, folder, source, position } = given;
  await tx.auditTrail.recordChange(tx, {
    action,
    projectId,
    facts: { importId: id, folderId: folder.folderId, sourceFolderId: source.folderId, position },
  });
  return given;
}

const loadByFolder = batchOfOwned(
  (ctx, folderIds) => listImportsOf(ctx, { folderIds }),
  ({ folder }) => folder.folderId,
);

const loadInEnvironments = batchOfLists<ImportRow, { path: string }>(
  (ctx, environmentIds, { path }) => listImportsInEnvironments(ctx, { environmentIds, path }),
  ({ folder }) => folder.environmentId,
);
