import { authorize } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { pipelined, type Query } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import { distinctIds, isId } from '../../../kernel/ids.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { Visibility } from '../scope/visibility.rules.js';
import { findById, listLocked, lockOne, type SecretRecord } from './find-secrets.js';
import {
  lockAndRecordByIds,
  lockAndRecordByKeys,
  lockAndRecordInFolders,
  lockFolderOfSecret,
  lockStructure,
} from './secret.queries.js';
import type { PathOf } from './secret.rules.js';
import { refuseMissing } from './write-checks.js';
import { folderAt, nameOf, type WriteAction, type WriteTarget } from './write-target.js';

/** A secret that is locked until the transaction ends, and its folder. */
interface HeldSecret {
  readonly target: WriteTarget;
  readonly record: SecretRecord;
}

/**
 * A shared secret by ID, wherever it is, locked until the transaction ends. One that the caller may not see is not
 * found.
 *
 * @param given `withFolder`: its folder is locked too, as for a new key
 * @throws SECRET_NOT_FOUND, PERMISSION_DENIED
 */
export async function holdSecret(
  tx: Transaction,
  projects: ProjectReader,
  { id, action, withFolder = false, pathOf }: { id: string; action: WriteAction; withFolder?: boolean; pathOf: PathOf },
): Promise<HeldSecret> {
  const code = 'SECRET_NOT_FOUND';
  const found = isId(id) ? await findById(tx, id, false) : undefined;
  const project = await projects.loadOwning(tx, found?.projectId, code);
  if (found === undefined || !new Visibility(project.ability).describes(found)) throw new AppError(code);
  authorize(project, action);
  if (withFolder) {
    await lockStructure(tx, project);
    await lockFolderOfSecret(tx, { secretId: id });
  }
  // It may have been changed, moved and hidden meanwhile.
  const [record] = await visibleIn(project, await lockOne(tx, { id }));
  if (record === undefined) throw new AppError(code);
  const { environmentId, folderId, projectId, environment, path: secretPath } = record;
  return {
    record,
    target: { project, place: { projectId, environment, secretPath }, pathOf, environmentId, folderId },
  };
}

/**
 * Those secrets of a folder that have these keys and that the caller may see, by key, locked until the transaction
 * ends.
 */
export async function lockRecords(
  tx: Transaction,
  { folderId, project }: Pick<WriteTarget, 'folderId' | 'project'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, SecretRecord>> {
  const records = await lockedRecords(tx, project, (lock) => lockAndRecordByKeys(lock, { folderId, keys }));
  return new Map(records.map((record) => [record.key, record]));
}

/** As `lockRecords`, of a batch of one or several folders: by `nameOf`. @param wanted which secrets of the batch */
export async function lockBatch(
  tx: Transaction,
  target: WriteTarget,
  wanted: readonly { readonly index: number; readonly key: string }[],
): Promise<ReadonlyMap<string, SecretRecord>> {
  const { folderId, project, homes } = target;
  const keys = wanted.map(({ key }) => key);
  const byName = (records: readonly SecretRecord[]) => new Map(records.map((record) => [nameOf(record), record]));
  const [key = '', ...others] = keys;
  if (homes === undefined && others.length === 0)
    return byName(await visibleIn(project, await lockOne(tx, { folderId, key })));
  const folderIds = wanted.map(({ index }) => folderAt(target, index).folderId);
  const records = await lockedRecords(tx, project, (lock) =>
    homes === undefined
      ? lockAndRecordByKeys(lock, { folderId, keys })
      : lockAndRecordInFolders(lock, { folderIds, keys }),
  );
  return byName(records);
}

/**
 * Those secrets of a folder that have these IDs and that the caller may see, in the order of the IDs, locked until the
 * transaction ends.
 */
export async function lockRecordsById(
  tx: Transaction,
  { folderId, project, pathOf }: Pick<WriteTarget, 'folderId' | 'project' | 'pathOf'>,
  ids: readonly string[],
): Promise<SecretRecord[]> {
  const records = await lockedRecords(tx, project, (lock) => lockAndRecordByIds(lock, { ids: ids.filter(isId) }));
  const byId = new Map(records.filter((record) => record.folderId === folderId).map((record) => [record.id, record]));
  refuseMissing(
    ids.map((id) => !byId.has(id.toLowerCase())),
    pathOf,
  );
  return distinctIds(ids).map((id) => byId.get(id) as SecretRecord);
}

/** @param lock notes what it has locked */
async function lockedRecords(
  tx: Transaction,
  project: ProjectAccess,
  lock: (query: Query) => Promise<unknown>,
): Promise<SecretRecord[]> {
  await lock(pipelined(tx));
  // A statement after the lock and not the same: one that waited for the lock would see the old tags.
  return visibleIn(project, await listLocked(tx));
}

const visibleIn = ({ ability }: ProjectAccess, records: SecretRecord[]): Promise<SecretRecord[]> => {
  const visibility = new Visibility(ability);
  return filterYielding(records, (record) => visibility.describes(record));
};
