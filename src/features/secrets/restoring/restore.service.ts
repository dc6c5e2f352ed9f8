import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { writtenRecord } from '../core/next-version.js';
import { refuseRotated, violationsOfRemoval } from '../core/rotated-guard.js';
import { lockFolderOfSecret, lockHistories, lockStructure } from '../core/secret.queries.js';
import { type SecretView, writtenView } from '../core/secret.view.js';
import { openerFor, openSecretValue, sealerFor } from '../core/secret-sealing.js';
import { insertSecrets, type SecretRow, updateSecrets, type Written } from '../core/secret-writes.js';
import { pruneVersions } from '../core/secret-writes.sql.js';
import { recordWrite } from '../core/write-target.js';
import { findPaths, lockEnvironments, makeFolders } from '../folders/folder-changes.js';
import { rewriteReferencesTo } from '../references/reference-writes.js';
import { deletedTagIds, openContents, restoredRow } from '../versions/restore-contents.js';
import { RestoreSecret, refuseDeletion } from '../versions/version.rules.js';
import { loadHistory, loadVersion, type VisibleHistory } from '../versions/version.service.js';
import { listNewestStates, type NewestState } from '../versions/version.sql.js';
import { RestoreGuard } from './restore-guard.js';

/** A secret after its restore. */
export interface RestoredSecret {
  readonly secret: SecretView;
  /** Deleted tags that the version had. */
  readonly leftOutTagIds: readonly string[];
}

/** Restores versions of single secrets. */
export class RestoreService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Writes a new version of a secret with key, value, comment, metadata, tags and settings of an old one. The secret
   * stays in its folder; references to it are updated for a new key. A deleted secret is created again with its ID in
   * its folder, which is created again if it was deleted; its personal values are not.
   *
   * @param raw `{ id, version }`; the rules are `RestoreSecret`
   * @throws VALIDATION_FAILED (also for a version that is a deletion), SECRET_NOT_FOUND, SECRET_VERSION_NOT_FOUND,
   * PERMISSION_DENIED, ROTATED_SECRET, SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, FOLDER_NOT_FOUND
   * (deleted at the same moment), CONCURRENT_CHANGE, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async restore(ctx: Context, raw: unknown): Promise<RestoredSecret> {
    const { id, version } = parse(RestoreSecret, raw);
    const known = await loadHistory(ctx, this.projects, id);
    const { project } = known;
    authorize(project, known.present.isGone ? 'secrets:create' : 'secrets:edit');
    return inTransaction(ctx, async (tx) => {
      const present = await lockedState(tx, known.present);
      const record = await loadVersion(tx, { ...known, present }, version);
      refuseDeletion(record, 'version');
      const { environment, environmentId, path } = present;
      const after = { environment, path, key: record.key, tags: record.tags };
      const before = present.isGone ? null : present;
      const guard = new RestoreGuard(project);
      guard.authorize({ secret: present, before, old: record, after });
      refuseRotated(violationsOfRemoval([present], () => 'id'));
      const opener = await openerFor(tx, project, [record]);
      const value = () => openSecretValue(opener, record);
      guard.authorizeValue({ secret: present, old: record, after }, { value, at: 'version' });
      const folderId = present.folderId ?? (await remadeFolder(tx, { project, present }));
      const sealer = await sealerFor(tx, project, 1);
      const contents = { record, clear: openContents(opener, project, record) };
      const target = { id: present.id, version: present.version + 1, environmentId, folderId };
      const row = { ...restoredRow(sealer, contents, target), renewsAge: !guard.readsValue(present) };
      const written = await write(tx, { project, present, row });
      const restored = writtenRecord(tx, row, written, { project, environment, path, tags: record.tags });
      const secret = writtenView(known.visibility)(restored);
      const facts = { restoredVersion: version };
      await recordWrite(
        tx,
        { project, environmentId, folderId },
        {
          action: 'secret:restore',
          ids: [row.id],
          facts,
          shown: [secret],
        },
      );
      return { secret, leftOutTagIds: deletedTagIds(record) };
    });
  }
}

/** @throws SECRET_NOT_FOUND when its environment was deleted meanwhile */
async function lockedState(tx: Transaction, { id, projectId }: NewestState): Promise<NewestState> {
  await lockStructure(tx, { projectId });
  await lockFolderOfSecret(tx, { secretId: id });
  await lockHistories(tx, [id]);
  const [present] = await listNewestStates(tx, { ids: [id] });
  if (present === undefined) throw new AppError('SECRET_NOT_FOUND');
  return present;
}

type Known = Pick<VisibleHistory, 'project' | 'present'>;

async function remadeFolder(tx: Transaction, { project, present }: Known): Promise<string> {
  const { environment, environmentId, path } = present;
  // Before the lookup, so that of two callers one creates the folder and the other finds it.
  await lockEnvironments(tx, project.projectId, [environment]);
  const scope = { project, environment, environmentId };
  const folders = await makeFolders(tx, scope, await findPaths(tx, scope, [path]));
  return folders.get(path) as string;
}

async function write(tx: Transaction, { project, present, row }: Known & { row: SecretRow }): Promise<Written> {
  const [written] = await (present.isGone ? insertSecrets : updateSecrets)(tx, project, [row]);
  if (present.isGone) await pruneVersions(tx, { ids: [row.id] });
  else if (present.key !== row.key) {
    const { environment, path } = present;
    const renaming = { from: { environment, path, key: present.key }, to: { environment, path, key: row.key } };
    // The restored value references what it referenced then.
    await rewriteReferencesTo(tx, project, [renaming], { except: new Set([row.id]) });
  }
  return written as Written;
}
