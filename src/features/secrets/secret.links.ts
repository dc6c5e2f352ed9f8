import { can } from '../../kernel/authz/ability.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import type { ProjectLinks } from '../projects/public.js';
import { listFoldersByIds, type ReadFolder } from './folder.records.js';
import { type ImportRecord, listImportsByIds } from './import.records.js';
import { parentOf } from './place.rules.js';
import { listByIds } from './secret.records.js';
import { type SecretView, SecretViewer } from './secret.view.js';
import { openerFor } from './secret-sealing.js';
import { Visibility } from './visibility.rules.js';

/**
 * Folders, secrets and imports that answers lead to by their ids, each kind in one statement for all of an answer. What
 * the caller would be refused, or would not find, by the root field of that kind is not there.
 */
export class SecretLinks {
  constructor(private readonly projects: ProjectLinks) {}

  /** Folders by id. */
  readonly folders: BatchLoad<ReadFolder> = async (ctx, ids) => {
    const rows = await listFoldersByIds(ctx, ids);
    const readable = await this.projects.readable(ctx, rows, ({ ability }, { environment, path }) =>
      can(ability, 'secret-folders:read', { environment, secretPath: parentOf(path) }),
    );
    return new Map(readable.map(({ row, access }) => [row.id, { ...row, access }]));
  };

  /** Ids of the environments of folders, by the ids of these. */
  readonly environmentIds: BatchLoad<string> = async (ctx, folderIds) =>
    new Map((await listFoldersByIds(ctx, folderIds)).map(({ id, environmentId }) => [id, environmentId]));

  /** Imports by id. */
  readonly imports: BatchLoad<ImportRecord> = async (ctx, ids) => {
    const rows = await listImportsByIds(ctx, ids);
    const readable = await this.projects.readable(ctx, rows, ({ ability }, { folder: { environment, path } }) =>
      can(ability, 'secret-imports:read', { environment, secretPath: path }),
    );
    return new Map(readable.map(({ row }) => [row.id, row]));
  };

  /** Shared secrets by id, with their values. What does not open is null. Whoever shows them records it. */
  readonly secrets: BatchLoad<SecretView> = async (ctx, ids) => {
    const records = await listByIds(ctx, ids);
    const readable = await this.projects.readable(ctx, records, ({ ability }, record) =>
      new Visibility(ability).describes(record),
    );
    const views = await Promise.all(
      readable.map(async ({ row, access }) =>
        new SecretViewer(await openerFor(ctx, access, [row]), new Visibility(access.ability), true).view(row),
      ),
    );
    return new Map(views.flatMap((view) => (view === null ? [] : [[view.id, view]])));
  };
}
