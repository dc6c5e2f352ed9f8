import { LRUCache } from 'lru-cache';
import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { authorize } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type Transaction } from '../../../kernel/context.js';
import { pipelined } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import type { SecretLocation } from '../scope/location.rules.js';
import type { SecretRecord } from './find-secrets.js';
import { type FoundFolder, loadFolder, loadFolders, loadSecretProject } from './load-folder.js';
import { lockFolderLocations, lockFolders } from './secret.queries.js';
import { keyAfterChange, type PathOf, type SecretChange } from './secret.rules.js';
import { idsWithValues, type SecretView } from './secret.view.js';

export type WriteAction = 'secrets:create' | 'secrets:edit' | 'secrets:delete';

/** The location of a write, and the paths of its violations. */
export interface Batch {
  readonly place: SecretLocation;
  readonly pathOf: PathOf;
  /** The folder of each secret. Absent: that of `place`. */
  readonly secretPaths?: readonly string[] | undefined;
}

/** A folder that exists. */
export interface ExistingFolder extends FoundFolder {
  readonly place: SecretLocation;
}

/** A location that exists, in a project where the caller may perform the action on some secret. */
export interface WriteTarget extends Batch, ExistingFolder {
  readonly project: ProjectAccess;
  /** The folder of each secret, where they are in several. */
  readonly homes?: readonly ExistingFolder[] | undefined;
}

/** The folder of a secret of a batch. */
export const folderAt = (target: ExistingFolder & Pick<WriteTarget, 'homes'>, index: number): ExistingFolder =>
  target.homes?.[index] ?? target;

/** The folders of a batch, each once. */
export const foldersOfBatch = (target: WriteTarget): readonly ExistingFolder[] => [
  ...new Map((target.homes ?? [target]).map((home) => [home.folderId, home])).values(),
];

/** Tells apart the secrets of a batch. */
export const nameOf = ({ folderId, key }: { readonly folderId: string; readonly key: string }): string =>
  `${folderId} ${key}`;

/**
 * @param find finds the location for those who may do this
 * @throws PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND
 */
export async function loadWriteTarget(
  ctx: Context,
  projects: ProjectReader,
  { place, pathOf, secretPaths }: Batch,
  action: WriteAction,
  find = loadFolder,
): Promise<WriteTarget> {
  if (!isTransaction(ctx)) await projects.findAtArrival(ctx, place.projectId);
  const project = await loadSecretProject(ctx, projects, place.projectId);
  // A caller who may do this to no secret at all learns nothing about environments and folders; conditions are checked
  // for each secret.
  authorize(project, action);
  const homes = secretPaths && (await loadFolders(ctx, place, { secretPaths, pathOf }));
  return { project, pathOf, homes, ...(homes?.[0] ?? { place, ...(await find(ctx, place)) }) };
}

/**
 * Locks the target folders of secrets, as `lockFolders` does, at the location that the caller named: the rules were
 * checked for it. A concurrent move of a folder waits, and then needs the rights on what was added to it.
 *
 * @throws FOLDER_NOT_FOUND, CONCURRENT_CHANGE for one that was renamed meanwhile
 */
export async function lockTargetFolders(
  tx: Transaction,
  targets: readonly Pick<WriteTarget, 'folderId' | 'place'>[],
): Promise<void> {
  const rows = await lockFolderLocations(tx, { folderIds: targets.map(({ folderId }) => folderId) });
  const homes = new Map(rows.map((row) => [row.id, row]));
  for (const { folderId, place } of targets) {
    const home = homes.get(folderId);
    if (home === undefined) throw new AppError('FOLDER_NOT_FOUND');
    if (home.path !== place.secretPath || home.environment !== place.environment)
      throw new AppError('CONCURRENT_CHANGE');
  }
}

/**
 * Locks, as `lockFolders` does, the folder of several secrets that stay in it. A rename, which holds its folder, locks the
 * secrets that name this one after it: in another order than those that write several.
 */
export async function lockFolderOfSeveral(
  tx: Transaction,
  { folderId }: Pick<WriteTarget, 'folderId'>,
  secrets: readonly unknown[],
): Promise<void> {
  if (secrets.length > 1) await lockFolders(pipelined(tx), { folderIds: [folderId] });
}

/** The location of a target in terms of references. */
export const referenceLocation = ({ place: { environment, secretPath } }: ExistingFolder) => ({
  environment,
  path: secretPath,
});

/** A secret of a batch that exists. */
export interface ExistingSecret {
  readonly home: ExistingFolder;
  readonly record: SecretRecord;
  readonly change: SecretChange;
}

/** The new names that changes give to secrets. */
export const renamesOf = (present: readonly ExistingSecret[]) =>
  present
    .filter(({ record, change }) => keyAfterChange(change) !== record.key)
    .map(({ home, record, change }) => ({
      from: { ...referenceLocation(home), key: record.key },
      to: { ...referenceLocation(home), key: keyAfterChange(change) },
    }));

/** Details of the audit record of a write besides location and secrets. */
export type WriteFacts = Readonly<Record<string, string | number>>;

/** A write of secrets in a folder, for the audit trail. */
interface RecordedWrite {
  readonly action: string;
  readonly ids: readonly string[];
  readonly facts?: WriteFacts | undefined;
  /** The secrets of the response. */
  readonly shown?: readonly SecretView[];
}

type Written = Pick<WriteTarget, 'environmentId' | 'folderId'> & { readonly project: Pick<ProjectAccess, 'projectId'> };

/** The event of a write of secrets in a folder. */
export const writeEvent = (
  { project, environmentId, folderId }: Written,
  { action, ids, facts = {}, shown = [] }: RecordedWrite,
): AuditEvent => ({
  action,
  projectId: project.projectId,
  facts: { environmentId, folderId, count: ids.length, secretIds: ids, ...facts },
  disclosed: disclosureOf(idsWithValues(shown)),
});

/** The audit record of a write of secrets in a folder. */
export const recordWrite = (tx: Transaction, target: Written, write: RecordedWrite): Promise<void> =>
  tx.auditTrail.recordChange(tx, writeEvent(target, write));

/** Characters of the names of all locations that are remembered. */
const MAX_LENGTH = 2_000_000;

const placeName = ({ projectId, environment, secretPath }: SecretLocation): string =>
  `${projectId.toLowerCase()} ${environment} ${secretPath}`;

/** Remembers which environments and folders the names of locations mean: most writes go to few of them. */
export class WriteTargets {
  readonly #known = new LRUCache<string, FoundFolder>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (_place, name) => name.length,
  });

  constructor(private readonly projects: ProjectReader) {}

  /**
   * Does work at a location.
   *
   * @param work fails where its folder or environment has another name by now: then it is done again at what has the name
   * @throws PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, and whatever `work` throws
   */
  async at<T>(ctx: Context, batch: Batch, action: WriteAction, work: (target: WriteTarget) => Promise<T>): Promise<T> {
    if (isTransaction(ctx)) return work(await loadWriteTarget(ctx, this.projects, batch, action));
    const known = this.#known.get(placeName(batch.place));
    const find = known === undefined ? this.#find : async () => known;
    const target = await loadWriteTarget(ctx, this.projects, batch, action, find);
    try {
      return await work(target);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      if (known === undefined && error.code !== 'CONCURRENT_CHANGE') throw error;
      const found = await this.#find(ctx, batch.place);
      if (found.folderId === target.folderId) throw error;
      return work({ ...target, ...found });
    }
  }

  readonly #find = async (ctx: Context, place: SecretLocation): Promise<FoundFolder> => {
    this.#known.delete(placeName(place));
    const found = await loadFolder(ctx, place);
    this.#known.set(placeName(place), found);
    return found;
  };
}
