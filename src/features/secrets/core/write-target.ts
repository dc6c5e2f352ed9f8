import { authorize } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import type { Place } from '../scope/place.rules.js';
import type { SecretRecord } from './find-secrets.js';
import { type FoundPlace, loadPlace, loadSecretProject } from './load-place.js';
import { lockPlaces } from './locks.sql.js';
import { keyAfter, type PathOf, type SecretChange } from './secret.rules.js';

export type WriteAction = 'secrets:create' | 'secrets:edit' | 'secrets:delete';

/** The location of a write, and the paths of its violations. */
export interface Batch {
  readonly place: Place;
  readonly pathOf: PathOf;
}

/** A location that exists, in a project where the caller may perform the action on some secret. */
export interface WriteTarget extends Batch, FoundPlace {
  readonly project: ProjectAccess;
}

/**
 * @param find finds the location for those who may do this
 * @throws PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND
 */
export async function loadWriteTarget(
  ctx: Context,
  projects: ProjectReader,
  { place, pathOf }: Batch,
  action: WriteAction,
  find = loadPlace,
): Promise<WriteTarget> {
  if (!isTransaction(ctx)) await projects.findAtArrival(ctx, place.projectId);
  const project = await loadSecretProject(ctx, projects, place.projectId);
  // A caller who may do this to no secret at all learns nothing about environments and folders; conditions are checked
  // for each secret.
  authorize(project, action);
  return { project, place, pathOf, ...(await find(ctx, place)) };
}

/**
 * Locks the target folders of secrets, as `lockHomes` does, at the location that the caller named: the rules were
 * checked for it. A concurrent move of a folder waits, and then needs the rights on what was added to it.
 *
 * @throws FOLDER_NOT_FOUND, CONCURRENT_CHANGE for one that was renamed meanwhile
 */
export async function holdPlaces(
  tx: Transaction,
  targets: readonly Pick<WriteTarget, 'folderId' | 'place'>[],
): Promise<void> {
  const rows = await lockPlaces(tx, { folderIds: targets.map(({ folderId }) => folderId) });
  const homes = new Map(rows.map((row) => [row.id, row]));
  for (const { folderId, place } of targets) {
    const home = homes.get(folderId);
    if (home === undefined) throw new AppError('FOLDER_NOT_FOUND');
    if (home.path !== place.secretPath || home.environment !== place.environment)
      throw new AppError('CONCURRENT_CHANGE');
  }
}

/** The location of a target in terms of references. */
export const namedPlace = ({ place: { environment, secretPath } }: WriteTarget) => ({ environment, path: secretPath });

export interface Present {
  readonly record: SecretRecord;
  readonly change: SecretChange;
}

/** The new names that changes give to secrets. */
export const renamesOf = (target: WriteTarget, present: readonly Present[]) =>
  present
    .filter(({ record, change }) => keyAfter(change) !== record.key)
    .map(({ record, change }) => ({
      from: { ...namedPlace(target), key: record.key },
      to: { ...namedPlace(target), key: keyAfter(change) },
    }));
