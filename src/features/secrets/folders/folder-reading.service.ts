import { type Ability, authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { batched, batchOfCounts, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import { isId } from '../../../kernel/ids.js';
import {
  type Counted,
  counted,
  type KeyBounds,
  keyPageBounds,
  Page,
  type PageRequest,
} from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import { listSubjects } from '../core/secret.queries.js';
import { Folder } from '../entities/folder.entity.js';
import type { VisibleEnvironment } from '../reading/secret-reading.service.js';
import { parentOf } from '../scope/location.rules.js';
import { Visibility } from '../scope/visibility.rules.js';
import { VersionVisibility } from '../versions/version.rules.js';
import { listNewestStates, listWritten } from '../versions/version.sql.js';
import { FolderByPath, FolderPage, FolderPageAt, FolderTree, GetFolder, ListFolders } from './folder.rules.js';
import {
  type FolderRow,
  findFolders,
  listFoldersBelow,
  listFoldersInEnvironments,
  listFoldersInside,
  listTree,
  prefixOf,
  type ReadFolder,
  withAccess,
} from './folder.sql.js';

/** A folder of a tree. */
interface FolderTreeEntry {
  readonly folder: ReadFolder;
  /** 0 for the root of the tree. */
  readonly depth: number;
  readonly secretCount: number;
}

/** Reads folders: lists, trees and single ones. A folder is visible to callers who may read in its parent folder. */
export class FolderReadingService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * One folder by ID.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, FOLDER_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<ReadFolder> {
    const { id } = parse(GetFolder, raw);
    const [folder] = isId(id) ? await findFolders(ctx, { ids: [id] }) : [];
    const project = await this.projects.loadOwning(ctx, folder?.projectId, 'FOLDER_NOT_FOUND');
    if (folder === undefined) throw new AppError('FOLDER_NOT_FOUND');
    authorize(project, 'secret-folders:read', {
      environment: folder.environmentSlug,
      secretPath: parentOf(folder.path),
    });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'folder:get',
      projectId: folder.projectId,
      facts: { folderId: folder.id },
    });
    return withAccess(project)(folder);
  }

  /**
   * One folder by its path.
   *
   * @param raw `{ projectId, environment, path }`; the rules are `FolderByPath`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async getByPath(ctx: Context, raw: unknown): Promise<ReadFolder> {
    const { projectId, environment, path } = parse(FolderByPath, raw);
    const project = await loadSecretProject(ctx, this.projects, projectId);
    authorize(project, 'secret-folders:read');
    const { folderId } = await loadFolder(ctx, { projectId, environment, secretPath: path });
    authorize(project, 'secret-folders:read', { environment, secretPath: parentOf(path) });
    const folder = await loadRow(ctx, findFolders, { ids: [folderId] }, 'FOLDER_NOT_FOUND');
    await ctx.auditTrail.recordRead(ctx, { action: 'folder:get', projectId, facts: { folderId } });
    return withAccess(project)(folder);
  }

  /**
   * The folders directly in a folder, or all below it, by path. What the caller may not see is left out; writes of
   * secrets that it may not see do not count.
   *
   * @param raw `{ projectId, environment, path, recursive, lastSecretModified?, first?, after? }`; the rules are
   * `ListFolders`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<Page<ReadFolder> & Counted> {
    const { projectId, environment, path, recursive, lastSecretModified, ...request } = parse(ListFolders, raw);
    const { after, limit } = keyPageBounds(request);
    const { project, ...span } = await this.#base(ctx, { projectId, environment, secretPath: path });
    const since = lastSecretModified ?? null;
    // Where rules depend on paths or on secrets, the rows of a page are known only after reading them.
    const isFiltered =
      (recursive && isConditional(project.ability)) || (since !== null && new Visibility(project.ability).isPerSecret);
    const read = async (bounds: KeyBounds): Promise<readonly FolderRow[]> => {
      const rows = await (recursive
        ? listFoldersBelow(ctx, { ...span, prefix: prefixOf(path), ...bounds, modifiedSince: since })
        : listFoldersInside(ctx, { folderIds: [span.folderId], ...bounds, modifiedSince: since }));
      const seen = rows.filter(seenWith(project.ability));
      return since === null ? seen : knownAsWritten(ctx, project.ability, { folders: seen, since });
    };
    const page = pageOf(await read({ after, limit: isFiltered ? null : limit }), request, project);
    await recordList(ctx, project, { folderId: span.folderId, count: page.nodes.length });
    return counted(page, async () => (await read(WHOLE)).length);
  }

  /**
   * A folder and all below it, flat, by path, each with its depth and the number of its secrets. Folders that the
   * caller may not see are left out, and secrets that it may not see are not counted.
   *
   * @param raw `{ projectId, environment, path }`; the rules are `FolderTree`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * AUDIT_UNAVAILABLE
   */
  async tree(ctx: Context, raw: unknown): Promise<FolderTreeEntry[]> {
    const { projectId, environment, path } = parse(FolderTree, raw);
    const { project, ...span } = await this.#base(ctx, { projectId, environment, secretPath: path });
    const isSeen = seenWith(project.ability);
    const rows = await listTree(ctx, { ...span, path, prefix: prefixOf(path) });
    const folders = rows.filter((folder) => folder.id === span.folderId || isSeen(folder));
    const counts = await describedSecrets(ctx, project.ability, folders);
    await recordList(ctx, project, { folderId: span.folderId, count: folders.length });
    return folders.map((folder) => ({
      folder: withAccess(project)(folder),
      depth: depthOf(folder.path) - depthOf(path),
      secretCount: counts.get(folder.id) ?? 0,
    }));
  }

  /**
   * Folders directly in one path of an environment that is part of a larger response, by path; pages of all environments
   * share one statement. Empty if there is nothing, or nothing for this caller.
   *
   * @param raw `{ path, first?, after? }`; the rules are `FolderPageAt`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED
   */
  async listInEnvironment(
    ctx: Context,
    { id, slug, access }: VisibleEnvironment & { slug: string },
    raw: unknown,
  ): Promise<Page<ReadFolder> & Counted> {
    const { path, ...request } = parse(FolderPageAt, raw);
    authorize(access, 'secret-folders:read', { environment: slug, secretPath: path });
    const read = async (bounds: KeyBounds) =>
      (await batched(ctx, loadInEnvironments, listKey(id, { path, ...bounds }))) ?? [];
    const page = pageOf(await read(keyPageBounds(request)), request, access);
    return counted(page, async () => (await read(WHOLE)).length);
  }

  /**
   * Folders directly in a folder that is part of a larger response, by path; pages of all folders share one statement.
   *
   * @param raw `{ first?, after? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED
   */
  async listInFolder(
    ctx: Context,
    { id, environmentSlug, path, access }: ReadFolder,
    raw: unknown = {},
  ): Promise<Page<ReadFolder> & Counted> {
    const request = parse(FolderPage, raw);
    authorize(access, 'secret-folders:read', { environment: environmentSlug, secretPath: path });
    const page = pageOf(
      (await batched(ctx, loadInFolders, listKey(id, keyPageBounds(request)))) ?? [],
      request,
      access,
    );
    return counted(page, async () => (await batched(ctx, countsInFolders, id)) ?? 0);
  }

  async #base(
    ctx: Context,
    place: { projectId: string; environment: string; secretPath: string },
  ): Promise<{ project: ProjectAccess; environmentId: string; folderId: string }> {
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    authorize(project, 'secret-folders:read');
    const found = await loadFolder(ctx, place);
    const { environment, secretPath } = place;
    authorize(project, 'secret-folders:read', { environment, secretPath });
    return { project, ...found };
  }
}

const depthOf = (path: string): number => (path === '/' ? 0 : path.split('/').length - 1);

const isConditional = (ability: Ability): boolean =>
  ability.rulesFor('read', 'secret-folders').some(({ conditions }) => conditions !== undefined);

/** Decides which folders the caller may see. */
const seenWith =
  (ability: Ability) =>
  ({ environmentSlug, path }: FolderRow): boolean =>
    can(ability, 'secret-folders:read', { environment: environmentSlug, secretPath: parentOf(path) });

const ANYTHING = { environment: '', path: '/', key: '', tags: [] };

/**
 * Of folders in which secrets were written since, those where the caller may see one: as it is, and as it was written.
 */
async function knownAsWritten(
  ctx: Context,
  ability: Ability,
  { folders, since }: { folders: readonly FolderRow[]; since: Date },
): Promise<readonly FolderRow[]> {
  const visibility = new Visibility(ability);
  if (!visibility.isPerSecret) return visibility.describes(ANYTHING) ? folders : [];
  const written = await listWritten(ctx, { folderIds: folders.map(({ id }) => id), since });
  const newest = await listNewestStates(ctx, { ids: [...new Set(written.map(({ id }) => id))] });
  const versions = new Map(newest.map((present) => [present.id, new VersionVisibility(visibility, present)]));
  const known = await filterYielding(written, (subject) => versions.get(subject.id)?.describes(subject) === true);
  const folderIds = new Set(known.map(({ folderId }) => folderId));
  return folders.filter(({ id }) => folderIds.has(id));
}

/** Number of secrets in each folder that the caller may see. */
async function describedSecrets(
  ctx: Context,
  ability: Ability,
  folders: Awaited<ReturnType<typeof listTree>>,
): Promise<ReadonlyMap<string, number>> {
  const visibility = new Visibility(ability);
  const filled = folders.filter(({ secretCount }) => secretCount > 0);
  if (visibility.isPerSecret) {
    const subjects = await listSubjects(ctx, { folderIds: filled.map(({ id }) => id) });
    const described = Map.groupBy(
      await filterYielding(subjects, (subject) => visibility.describes(subject)),
      ({ folderId }) => folderId,
    );
    return new Map([...described].map(([id, secrets]) => [id, secrets.length]));
  }
  return new Map(
    filled
      .filter(({ environmentSlug, path }) =>
        visibility.describes({ environment: environmentSlug, path, key: '', tags: [] }),
      )
      .map(({ id, secretCount }) => [id, secretCount]),
  );
}

const recordList = (
  ctx: Context,
  { projectId }: ProjectAccess,
  facts: { folderId: string; count: number },
): Promise<void> => ctx.auditTrail.recordRead(ctx, { action: 'folder:list', projectId, facts });

const pageOf = (folders: readonly FolderRow[], request: PageRequest, access: ProjectAccess): Page<ReadFolder> =>
  new Page(folders.map(withAccess(access)), request, ({ path }) => [path]);

/** Bounds of a list as a whole. */
const WHOLE: KeyBounds = { after: null, limit: null };

const countsInFolders = batchOfCounts(Folder, 'parentId');

const loadInEnvironments = batchOfLists<FolderRow, KeyBounds & { path: string }>(
  (ctx, environmentIds, at) => listFoldersInEnvironments(ctx, { environmentIds, ...at }),
  ({ environmentId }) => environmentId,
);

const loadInFolders = batchOfLists<FolderRow, KeyBounds>(
  (ctx, folderIds, at) => listFoldersInside(ctx, { folderIds, ...at, modifiedSince: null }),
  ({ parentId }) => parentId as string,
);
