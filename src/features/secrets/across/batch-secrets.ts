import { PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { lockByIds, lockFoldersOfSecrets, lockStructure } from '../core/secret.queries.js';
import { listReferring, namesOf } from '../references/reference.sql.js';
import { Visibility } from '../scope/visibility.rules.js';

/**
 * Checks rules for each of several items of a request, and rejects with the paths of all denied ones.
 *
 * @param pathOf the path of an item in the request
 * @throws PERMISSION_DENIED
 */
export function authorizeEach<T>(
  items: readonly T[],
  pathOf: (item: T) => string,
  authorizeOne: (item: T) => void,
): void {
  const denied = items.flatMap((item) => {
    try {
      authorizeOne(item);
      return [];
    } catch (error) {
      if (!(error instanceof PermissionDenied)) throw error;
      return [{ attempt: error.attempt, path: pathOf(item) }];
    }
  });
  const [first] = denied;
  if (first === undefined) return;
  const reasons = denied.map(({ attempt, path }) => ({ path, needs: attempt.action, about: 'is a secret that' }));
  throw new PermissionDenied(first.attempt, [], reasons);
}

/** A secret that the caller may see, and its project. */
export interface FoundSecret {
  readonly project: ProjectAccess;
  readonly record: SecretRecord;
}

/** Secrets by ID, whatever project they are in: those that the caller may see, without their values. Two statements. */
export async function findSecrets(
  tx: Transaction,
  projects: ProjectReader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundSecret>> {
  const records = await listByIds(tx, ids.filter(isId), false);
  const accesses = await projects.listOwning(
    tx,
    records.map(({ projectId }) => projectId),
  );
  return seenOf(records, accesses);
}

/**
 * Locks secrets of any folders, environments and projects until the transaction ends, in the order of all writers: the
 * structure of projects where keys change, by ID; the folders, by ID; then the secrets, by key and ID, with those whose
 * references will be updated.
 *
 * @param renamedIds those that will get new keys
 * @returns what still exists for the caller, with values
 * @throws CONCURRENT_CHANGE for one that was moved meanwhile, ANSWER_TOO_LARGE
 */
export async function lockSecrets(
  tx: Transaction,
  found: readonly FoundSecret[],
  renamedIds: ReadonlySet<string> = new Set(),
): Promise<ReadonlyMap<string, FoundSecret>> {
  const ids = found.map(({ record }) => record.id);
  const renamed = found.filter(({ record }) => renamedIds.has(record.id));
  const renamedIn = [...Map.groupBy(renamed, ({ project }) => project.projectId)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [projectId] of renamedIn) await lockStructure(tx, { projectId });
  const lockedFolderIds = new Set((await lockFoldersOfSecrets(tx, { ids })).map(({ id }) => id));
  const referring: string[] = [];
  for (const [projectId, secrets] of renamedIn) {
    const names = namesOf(secrets.map(({ record }) => record));
    referring.push(...(await listReferring(tx, { projectId, ...names })).map(({ id }) => id));
  }
  await lockByIds(tx, { ids: [...new Set([...ids, ...referring])] });
  // Read after the lock and not with it: a statement that waited for the lock would see the old values.
  const records = await listByIds(tx, ids);
  if (records.some(({ folderId }) => !lockedFolderIds.has(folderId))) throw new AppError('CONCURRENT_CHANGE');
  if (records.some(({ valueSealed }) => valueSealed === null))
    throw tx.load?.tooLarge() ?? new AppError('ANSWER_TOO_LARGE');
  return seenOf(records, new Map(found.map(({ project }) => [project.projectId, project])));
}

function seenOf(
  records: readonly SecretRecord[],
  accesses: ReadonlyMap<string, ProjectAccess>,
): ReadonlyMap<string, FoundSecret> {
  const visibilities = new Map([...accesses].map(([id, { ability }]) => [id, new Visibility(ability)]));
  return new Map(
    records.flatMap((record): [string, FoundSecret][] => {
      const project = accesses.get(record.projectId);
      const isSeen = project !== undefined && visibilities.get(record.projectId)?.describes(record) === true;
      return isSeen ? [[record.id, { project, record }]] : [];
    }),
  );
}
