import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { distinctIds, isId } from '../../../kernel/ids.js';
import { findTags, type TagRow } from '../../tags/public.js';
import type { Place } from '../scope/place.rules.js';
import { authorizeSubjectChanges, fieldsOf } from '../scope/visibility.rules.js';
import { keyAfter, type NewSecret, type PathOf, type SecretChange } from './secret.rules.js';
import { listMemberUsers } from './secret.sql.js';
import { takenKeys } from './secret-writes.js';
import type { Present, WriteTarget } from './write-target.js';

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

type Given = Pick<NewSecret, 'tagIds' | 'secretReminderRecipients'>;

/**
 * Tags of the project by ID, for these secrets, and the check of their reminder recipients.
 *
 * @throws TAG_NOT_FOUND, USER_NOT_FOUND, with each path
 */
export async function loadNamed(
  ctx: Context,
  { project: { projectId }, pathOf }: Pick<WriteTarget, 'project' | 'pathOf'>,
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
 * Reports every taken key of a batch. Only for the message: the constraint protects against races.
 *
 * @throws SECRET_KEY_TAKEN
 */
export async function refuseTaken(
  tx: Transaction,
  { folderId, pathOf }: Pick<WriteTarget, 'folderId' | 'pathOf'>,
  keys: readonly string[],
): Promise<void> {
  const taken = await takenKeys(tx, folderId, keys);
  const violation = { code: 'SECRET_KEY_TAKEN', message: 'already exists in the folder' } as const;
  const details = keys.flatMap((key, index) =>
    taken.has(key) ? [{ path: pathOf(index, 'secretKey'), ...violation }] : [],
  );
  refuseWith('SECRET_KEY_TAKEN', details);
}

/** @throws PERMISSION_DENIED */
export function authorizeNew(
  { project, place }: WriteTarget,
  secrets: readonly NewSecret[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  for (const { secretKey, tagIds } of secrets) {
    authorize(project, 'secrets:create', fieldsOf(subjectOf(place, secretKey, pick(tags, tagIds))));
  }
}

/** @throws PERMISSION_DENIED */
export function authorizeChanges(
  { project, place }: WriteTarget,
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
  { folderId, pathOf }: WriteTarget,
  { changes, isFreed }: { changes: readonly SecretChange[]; isFreed: (key: string) => boolean },
): Promise<void> {
  const wanted = changes.flatMap(({ newSecretKey: key }, index) =>
    key === undefined || isFreed(key) ? [] : [{ key, path: pathOf(index, 'newSecretKey') }],
  );
  if (changes.length === 1 || wanted.length === 0) return;
  const keys = wanted.map(({ key }) => key);
  await refuseTaken(tx, { folderId, pathOf: (index) => (wanted[index] as { path: string }).path }, keys);
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
