import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import { distinctIds, isId } from '../../../kernel/ids.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { findTags, type TagRow } from '../../tags/public.js';
import type { Place } from '../scope/place.rules.js';
import { authorizeSubjectChanges, fieldsOf, Visibility } from '../scope/visibility.rules.js';
import { findById, listByIds, type SecretRecord } from './find-secrets.js';
import { lockByIds, lockByKeys, lockHomeOf, lockPlaces, lockStructure } from './locks.sql.js';
import type { NewSecret, PathOf, SecretChange } from './secret.rules.js';
import { findPlace, listMemberUsers } from './secret.sql.js';
import { type SecretView, shownIn } from './secret.view.js';
import { takenKeys } from './secret-writes.js';

/** An environment and a folder that exist. */
export interface FoundPlace {
  readonly environmentId: string;
  readonly folderId: string;
}

/**
 * A project that can hold secrets.
 *
 * @throws PROJECT_NOT_FOUND, VALIDATION_FAILED (WRONG_PROJECT_TYPE)
 */
export async function loadSecretProject(
  ctx: Context,
  projects: ProjectReader,
  projectId: string,
): Promise<ProjectAccess> {
  const project = await projects.load(ctx, projectId);
  refuseOtherType(project, 'projectId');
  return project;
}

/** @param path where the project was named @throws VALIDATION_FAILED (WRONG_PROJECT_TYPE) unless the project can hold secrets */
export function refuseOtherType({ type }: ProjectAccess, path: string): void {
  if (type === 'secret-manager') return;
  throw new AppError('VALIDATION_FAILED', 'Only projects of the type secret-manager have secrets and folders.', {
    details: [{ path, code: 'WRONG_PROJECT_TYPE', message: 'must be a project of the type secret-manager' }],
  });
}

/** @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND */
export async function loadPlace(ctx: Context, place: Place): Promise<FoundPlace> {
  const [found] = await findPlace(ctx, place);
  if (found === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
  const { environmentId, folderId } = found;
  if (folderId === null) throw new AppError('FOLDER_NOT_FOUND');
  return { environmentId, folderId };
}

export type WriteAction = 'secrets:create' | 'secrets:edit' | 'secrets:delete';

/** The location of a write, and the paths of its violations. */
export interface Batch {
  readonly place: Place;
  readonly pathOf: PathOf;
}

/** A location that exists, in a project where the caller may perform the action on some secret. */
export interface Target extends Batch, FoundPlace {
  readonly project: ProjectAccess;
}

/** @throws PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND */
export async function loadTarget(
  ctx: Context,
  projects: ProjectReader,
  { place, pathOf }: Batch,
  action: WriteAction,
): Promise<Target> {
  const project = await loadSecretProject(ctx, projects, place.projectId);
  // A caller who may do this to no secret at all learns nothing about environments and folders; conditions are checked
  // for each secret.
  authorize(project, action);
  return { project, place, pathOf, ...(await loadPlace(ctx, place)) };
}

/** A secret that is locked until the transaction ends, and its folder. */
interface HeldSecret {
  readonly target: Target;
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
    await lockHomeOf(tx, { secretId: id });
  }
  // It may have been changed, moved and hidden meanwhile.
  const [record] = await lockedRecords(tx, project, await lockByIds(tx, { ids: [id] }));
  if (record === undefined) throw new AppError(code);
  const { environmentId, folderId, projectId, environment, path: secretPath } = record;
  return {
    record,
    target: { project, place: { projectId, environment, secretPath }, pathOf, environmentId, folderId },
  };
}

/**
 * Locks the target folders of secrets, as `lockHomes` does, at the location that the caller named: the rules were
 * checked for it. A concurrent move of a folder waits, and then needs the rights on what was added to it.
 *
 * @throws FOLDER_NOT_FOUND, CONCURRENT_CHANGE for one that was renamed meanwhile
 */
export async function holdPlaces(
  tx: Transaction,
  targets: readonly Pick<Target, 'folderId' | 'place'>[],
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

/** @throws with the code and these violations, if there are any */
const refuseWith = (code: ErrorCode, details: readonly ErrorDetail[]): void => {
  if (details.length > 0) throw new AppError(code, undefined, { details });
};

/** @throws VALIDATION_FAILED with these violations, if there are any */
export const refuse = (details: readonly ErrorDetail[]): void => refuseWith('VALIDATION_FAILED', details);

/** The attributes for rules of a secret to be written. */
export const subjectOf = ({ environment, secretPath }: Place, key: string, tags: readonly TagRow[]) => ({
  environment,
  path: secretPath,
  key,
  tags,
});

/** The location of a target in terms of references. */
export const namedPlace = ({ place: { environment, secretPath } }: Target) => ({ environment, path: secretPath });

type Given = Pick<NewSecret, 'tagIds' | 'secretReminderRecipients'>;

/**
 * Tags of the project by ID, for these secrets, and the check of their reminder recipients.
 *
 * @throws TAG_NOT_FOUND, USER_NOT_FOUND, with each path
 */
export async function loadNamed(
  ctx: Context,
  { project: { projectId }, pathOf }: Pick<Target, 'project' | 'pathOf'>,
  secrets: readonly Given[],
): Promise<ReadonlyMap<string, TagRow>> {
  await checkRecipients(ctx, projectId, { secrets, pathOf });
  return loadTags(ctx, projectId, { secrets, pathOf });
}

async function loadTags(
  ctx: Context,
  projectId: string,
  { secrets, pathOf }: { secrets: readonly Given[]; pathOf: PathOf },
): Promise<ReadonlyMap<string, TagRow>> {
  const ids = distinctIds(secrets.flatMap(({ tagIds }) => tagIds ?? [])).filter(isId);
  const found = ids.length === 0 ? [] : await findTags(ctx, { ids });
  const known = new Map(found.filter((tag) => tag.projectId === projectId).map((tag) => [tag.id, tag]));
  const violation = { code: 'TAG_NOT_FOUND', message: 'is not a tag of the project' } as const;
  const details = secrets.flatMap(({ tagIds }, index) =>
    (tagIds ?? []).flatMap((id, at): ErrorDetail[] =>
      known.has(id.toLowerCase()) ? [] : [{ path: pathOf(index, `tagIds[${at}]`), ...violation }],
    ),
  );
  refuseWith('TAG_NOT_FOUND', details);
  return known;
}

/** The tags with these IDs, in order. */
export const pick = (tags: ReadonlyMap<string, TagRow>, ids: readonly string[] | null | undefined): readonly TagRow[] =>
  distinctIds(ids)
    .flatMap((id) => tags.get(id) ?? [])
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));

async function checkRecipients(
  ctx: Context,
  projectId: string,
  { secrets, pathOf }: { secrets: readonly Given[]; pathOf: PathOf },
): Promise<void> {
  const wanted = distinctIds(secrets.flatMap((secret) => secret.secretReminderRecipients ?? [])).filter(isId);
  const isAsked = secrets.some((secret) => (secret.secretReminderRecipients ?? []).length > 0);
  if (!isAsked) return;
  const members = await listMemberUsers(ctx, { projectId, userIds: wanted });
  const known = new Set(members.map(({ id }) => id));
  const violation = { code: 'USER_NOT_FOUND', message: 'is not a user who is a member of the project' } as const;
  const details = secrets.flatMap(({ secretReminderRecipients }, index) =>
    (secretReminderRecipients ?? []).flatMap((id, at): ErrorDetail[] =>
      known.has(id.toLowerCase()) ? [] : [{ path: pathOf(index, `secretReminderRecipients[${at}]`), ...violation }],
    ),
  );
  refuseWith('USER_NOT_FOUND', details);
}

/**
 * Reports every taken key of a batch. Only for the message: the constraint protects against races. @throws
 * SECRET_KEY_TAKEN
 */
export async function refuseTaken(
  tx: Transaction,
  { folderId, pathOf }: Pick<Target, 'folderId' | 'pathOf'>,
  keys: readonly string[],
): Promise<void> {
  const taken = await takenKeys(tx, folderId, keys);
  const violation = { code: 'SECRET_KEY_TAKEN', message: 'already exists in the folder' } as const;
  const details = keys.flatMap((key, index) =>
    taken.has(key) ? [{ path: pathOf(index, 'secretKey'), ...violation }] : [],
  );
  refuseWith('SECRET_KEY_TAKEN', details);
}

/** The key of a secret after a change. */
export const keyAfter = ({ secretKey, newSecretKey }: SecretChange): string => newSecretKey ?? secretKey;

/** @throws PERMISSION_DENIED */
export function authorizeNew(
  { project, place }: Target,
  secrets: readonly NewSecret[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  for (const { secretKey, tagIds } of secrets) {
    authorize(project, 'secrets:create', fieldsOf(subjectOf(place, secretKey, pick(tags, tagIds))));
  }
}

interface Present {
  readonly record: SecretRecord;
  readonly change: SecretChange;
}

/** @throws PERMISSION_DENIED */
export function authorizeChanges(
  { project, place }: Target,
  present: readonly Present[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  const changes = present.map(({ record, change }) => {
    const tagsAfter = change.tagIds === undefined ? record.tags : pick(tags, change.tagIds);
    return { before: record, after: subjectOf(place, keyAfter(change), tagsAfter) };
  });
  // Also where the value is a new one: comment and metadata stay.
  authorizeSubjectChanges(project, changes);
}

/**
 * Reports every taken one of the new keys of a batch.
 *
 * @param batch `isFreed` returns whether a key is that of a secret that the batch itself changes: no two of its secrets
 * get one key
 * @throws SECRET_KEY_TAKEN
 */
export async function refuseTakenNames(
  tx: Transaction,
  { folderId, pathOf }: Target,
  { changes, isFreed }: { changes: readonly SecretChange[]; isFreed: (key: string) => boolean },
): Promise<void> {
  const wanted = changes.flatMap(({ newSecretKey: key }, index) =>
    key === undefined || isFreed(key) ? [] : [{ key, path: pathOf(index, 'newSecretKey') }],
  );
  if (changes.length === 1 || wanted.length === 0) return;
  const keys = wanted.map(({ key }) => key);
  await refuseTaken(tx, { folderId, pathOf: (index) => (wanted[index] as { path: string }).path }, keys);
}

/** The new names that changes give to secrets. */
export const renamesOf = (target: Target, present: readonly Present[]) =>
  present
    .filter(({ record, change }) => keyAfter(change) !== record.key)
    .map(({ record, change }) => ({
      from: { ...namedPlace(target), key: record.key },
      to: { ...namedPlace(target), key: keyAfter(change) },
    }));

/**
 * Those secrets of a folder that have these keys and that the caller may see, by key, locked until the transaction
 * ends.
 */
export async function lockRecords(
  tx: Transaction,
  { folderId, project }: Pick<Target, 'folderId' | 'project'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, SecretRecord>> {
  const records = await lockedRecords(tx, project, await lockByKeys(tx, { folderId, keys }));
  return new Map(records.map((record) => [record.key, record]));
}

/**
 * Those secrets of a folder that have these IDs and that the caller may see, in the order of the IDs, locked until the
 * transaction ends.
 */
export async function lockRecordsById(
  tx: Transaction,
  { folderId, project, pathOf }: Pick<Target, 'folderId' | 'project' | 'pathOf'>,
  ids: readonly string[],
): Promise<SecretRecord[]> {
  const records = await lockedRecords(tx, project, await lockByIds(tx, { ids: ids.filter(isId) }));
  const byId = new Map(records.filter((record) => record.folderId === folderId).map((record) => [record.id, record]));
  refuseMissing(ids, (id) => byId.has(id.toLowerCase()), pathOf);
  return distinctIds(ids).map((id) => byId.get(id) as SecretRecord);
}

async function lockedRecords(
  tx: Transaction,
  project: ProjectAccess,
  rows: readonly { readonly id: string }[],
): Promise<SecretRecord[]> {
  const locked = rows.map(({ id }) => id);
  // Read after the lock and not with it: a statement that waited for the lock would see the old tags.
  const records = locked.length === 0 ? [] : await listByIds(tx, locked);
  const visibility = new Visibility(project.ability);
  return filterYielding(records, (record) => visibility.describes(record));
}

/** @throws SECRET_NOT_FOUND, naming each; one that the caller may not see is not found */
export function refuseMissing(names: readonly string[], isThere: (name: string) => boolean, pathOf: PathOf): void {
  const details = names.flatMap((name, index): ErrorDetail[] =>
    isThere(name)
      ? []
      : [{ path: pathOf(index, 'secretKey'), code: 'SECRET_NOT_FOUND', message: 'is not a secret of the folder' }],
  );
  refuseWith('SECRET_NOT_FOUND', details);
}

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

type Written = Pick<Target, 'environmentId' | 'folderId'> & { readonly project: Pick<ProjectAccess, 'projectId'> };

/** The event of a write of secrets in a folder. */
export const writeEvent = (
  { project, environmentId, folderId }: Written,
  { action, ids, facts = {}, shown = [] }: RecordedWrite,
): AuditEvent => ({
  action,
  projectId: project.projectId,
  facts: { environmentId, folderId, count: ids.length, secretIds: ids, ...facts },
  disclosed: disclosureOf(shownIn(shown)),
});

/** The audit record of a write of secrets in a folder. */
export const recordWrite = (tx: Transaction, target: Written, write: RecordedWrite): Promise<void> =>
  tx.auditTrail.recordChange(tx, writeEvent(target, write));
