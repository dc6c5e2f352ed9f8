import { type Action, authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { SearchPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { findByKey } from '../core/find-secrets.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import { parentOf, type SecretLocation } from '../scope/location.rules.js';
import { loadBoundsOfEach, scanRows } from '../scope/scan.js';
import { authorizeListing, folderTest, Visibility } from '../scope/visibility.rules.js';
import { WhereUsed } from './search.rules.js';
import { listUses, type UsedItem, type UseRow, type UserFolders, useKeyOf } from './usage.sql.js';

const CURSOR_PARTS = 5;

/** A use, with its project. */
export type UseView = UseRow & { readonly projectId: string };

/** Something that may be used, in a project where the caller may see it. */
interface Target extends UsedItem {
  readonly project: ProjectAccess;
  readonly secretId: string | null;
}

/** Finds what a deletion of a secret or a folder would affect: references and imports. */
export class UsageService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Secrets whose values reference a secret, or any secret of a folder, and folders that import the folder, directly or
   * through others: imports first, then by environment, path and key. What the caller may not see is left out, and so
   * are secrets whose values it may not read.
   *
   * @param raw `{ secret or folder, first, after }`; the rules are `WhereUsed`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * SECRET_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async whereUsed(ctx: Context, raw: unknown): Promise<SearchPage<UseView>> {
    const { secret, folder, ...request } = parse(WhereUsed, raw);
    const cursors = new SealedCursors(ctx, 'whereUsed', { secret, folder });
    const after = cursors.read(request.after, CURSOR_PARTS);
    const used = secret === undefined ? await this.#loadFolder(ctx, folder) : await this.#loadSecret(ctx, secret);
    const { project } = used;
    const folders = await usersOf(ctx, used);
    const { rows, stoppedAt } = await scanRows(
      { first: request.first, after, isOpen: false },
      {
        read: (position, limit) => listUses(ctx, { ...used, ...folders, after: position, limit }),
        see: seenIn(used),
        keyOf: useKeyOf,
      },
    );
    const page = new SearchPage(rows, request, useKeyOf, { cursors, stoppedAt });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:where-used',
      projectId: project.projectId,
      facts: { folderId: used.folderId, secretId: used.secretId, count: page.nodes.length },
    });
    return page.map((row) => ({ ...row, projectId: project.projectId }), useKeyOf);
  }

  async #loadSecret(
    ctx: Context,
    { secretKey: key, ...place }: SecretLocation & { secretKey: string },
  ): Promise<Target> {
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    authorizeListing(project);
    const record = await findByKey(ctx, place, { key, withValues: false });
    if (record === undefined) await loadFolder(ctx, place);
    if (record === undefined || !new Visibility(project.ability).describes(record))
      throw new AppError('SECRET_NOT_FOUND');
    return { ...record, project, secretId: record.id };
  }

  async #loadFolder(ctx: Context, folder: FolderPlace | undefined): Promise<Target> {
    const { projectId, environment, path } = folder as FolderPlace;
    const project = await loadSecretProject(ctx, this.projects, projectId);
    authorize(project, 'secret-folders:read');
    const { folderId } = await loadFolder(ctx, { projectId, environment, secretPath: path });
    authorize(project, 'secret-folders:read', { environment, secretPath: parentOf(path) });
    return { project, projectId: project.projectId, folderId, environment, path, key: null, secretId: null };
  }
}

interface FolderPlace {
  readonly projectId: string;
  readonly environment: string;
  readonly path: string;
}

/** The right that each kind of use requires: see `seenIn`. */
const IMPORT_RIGHTS: readonly Action[] = ['secret-imports:read'];
const REFERENCE_RIGHTS: readonly Action[] = ['secrets:describeSecret', 'secrets:readValue'];

/** The folders that may have uses that the caller sees. */
async function usersOf(ctx: Context, { project, environment, path }: Target): Promise<UserFolders> {
  const [imports, references] = await loadBoundsOfEach(ctx, [project], [IMPORT_RIGHTS, REFERENCE_RIGHTS]);
  const isNamed = folderTest(project.ability, ['secrets:describeSecret'])({ environment, path });
  return { importing: imports?.folderIds ?? null, naming: isNamed ? (references?.folderIds ?? null) : [] };
}

/**
 * A reference shows both of its ends, and a part of the value that contains it; an import is visible with the right to
 * read imports at its location.
 */
function seenIn({ project, environment, path }: Target): (row: UseRow) => UseRow | null {
  const visibility = new Visibility(project.ability);
  return (row) => {
    if (row.kind === 'import') {
      const fields = { environment: row.environment, secretPath: row.path };
      return can(project.ability, 'secret-imports:read', fields) ? row : null;
    }
    const { key, usedKey } = row as { key: string; usedKey: string };
    const user = { ...row, key };
    const isSeen =
      visibility.describes(user) &&
      visibility.readsValue(user) &&
      visibility.describes({ environment, path, key: usedKey, tags: row.usedTags });
    return isSeen ? row : null;
  };
}
