import { authorize } from '../../../kernel/authz/ability.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import type { ProjectLinks } from '../../projects/public.js';
import { listFoldersByIds, type ReadFolder } from '../folder.records.js';
import { type ImportRecord, listImportsByIds } from '../import.records.js';
import { parentOf } from '../place.rules.js';
import { listByIds } from '../secret.records.js';
import { type SecretView, SecretViewer } from '../secret.view.js';
import { openerFor } from '../secret-sealing.js';
import { authorizeListing, Visibility } from '../visibility.rules.js';

/**
 * Folders, secrets and imports that answers lead to by their ids, each kind in one statement for all of an answer. What
 * the caller would be refused, or would not find, by the root field of that kind is not there.
 */
export class SecretLinks {
  constructor(private readonly projects: ProjectLinks) {}

  /** Folders by id. */
  readonly folders: BatchLoad<ReadFolder> = async (ctx, ids) => {
    const rows = await listFoldersByIds(ctx, ids);
    return this.projects.readable(ctx, rows, (folder, access) => {
      authorize(access, 'secret-folders:read', { environment: folder.environment, secretPath: parentOf(folder.path) });
      return { ...folder, access };
    });
  };

  /** Ids of the environments of folders, by the ids of these. */
  readonly environmentIds: BatchLoad<string> = async (ctx, folderIds) =>
    new Map((await listFoldersByIds(ctx, folderIds)).map(({ id, environmentId }) => [id, environmentId]));

  /** Imports by id. */
  readonly imports: BatchLoad<ImportRecord> = async (ctx, ids) => {
    const rows = await listImportsByIds(ctx, ids);
    return this.projects.readable(ctx, rows, (row, access) => {
      authorize(access, 'secret-imports:read', { environment: row.folder.environment, secretPath: row.folder.path });
      return row;
    });
  };

  /** Shared secrets by id, with their values. What does not open is null. Whoever shows them records it. */
  readonly secrets: BatchLoad<SecretView> = async (ctx, ids) => {
    const records = await listByIds(ctx, ids);
    const found = await this.projects.readable(ctx, records, (row, access) => {
      authorizeListing(access);
      return { row, access, visibility: new Visibility(access.ability) };
    });
    const views = await Promise.all(
      [...found].map(async ([id, value]): Promise<(readonly [string, SecretView | Error])[]> => {
        if (value instanceof Error) return [[id, value]];
        const { row, access, visibility } = value;
        if (!visibility.describes(row)) return [];
        const view = new SecretViewer(await openerFor(ctx, access, [row]), visibility, true).view(row);
        return view === null ? [] : [[id, view]];
      }),
    );
    return new Map(views.flat());
  };
}
