import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { distinctIds, isId } from '../../../kernel/ids.js';
import { ProjectMembership } from '../../projects/public.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { authorizeSubjectChanges, fieldsOf } from '../scope/visibility.rules.js';
import { findTags, type TagRow } from '../tags/public.js';
import { listTakenKeys } from './secret.queries.js';
import { keyAfterChange, type NewSecret, type PathOf, type SecretChange } from './secret.rules.js';
import { type ExistingFolder, type ExistingSecret, folderAt, nameOf, type WriteTarget } from './write-target.js';

/** @throws AppError with this code and these details, if there are any */
export const refuseDetails = (code: ErrorCode, details: readonly ErrorDetail[]): void => {
  if (details.length > 0) throw new AppError(code, undefined, { details });
};

/** The attributes for rules of a secret to be written. */
export const subjectOf = ({ environment, secretPath }: SecretLocation, key: string, tags: readonly TagRow[]) => ({
  environment,
  path: secretPath,
  key,
  tags,
});

type TagsAndRecipients = Pick<NewSecret, 'tagIds' | 'secretReminderRecipients'>;

/**
 * Tags of the project by ID, for these secrets, and the check of their reminder recipients.
 *
 * @throws TAG_NOT_FOUND, USER_NOT_FOUND, with each path
 */
export async function loadTagsAndCheckRecipients(
  ctx: Context,
  { project: { projectId }, pathOf }: Pick<WriteTarget, 'project' | 'pathOf'>,
  secrets: readonly TagsAndRecipients[],
): Promise<ReadonlyMap<string, TagRow>> {
  await checkRecipients(ctx, projectId, { secrets, pathOf });
  return loadTags(ctx, projectId, { secrets, pathOf });
}

async function loadTags(
  ctx: Context,
  projectId: string,
  { secrets, pathOf }: { secrets: readonly TagsAndRecipients[]; pathOf: PathOf },
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
  refuseDetails('TAG_NOT_FOUND', details);
  return known;
}

/** The tags with these IDs, in order. */
export const tagsByIds = (
  tags: ReadonlyMap<string, TagRow>,
  ids: readonly string[] | null | undefined,
): readonly TagRow[] =>
  distinctIds(ids)
    .flatMap((id) => tags.get(id) ?? [])
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));

async function checkRecipients(
  ctx: Context,
  projectId: string,
  { secrets, pathOf }: { secrets: readonly TagsAndRecipients[]; pathOf: PathOf },
): Promise<void> {
  const wanted = distinctIds(secrets.flatMap((secret) => secret.secretReminderRecipients ?? [])).filter(isId);
  const isAsked = secrets.some((secret) => (secret.secretReminderRecipients ?? []).length > 0);
  if (!isAsked) return;
  const members = await emOf(ctx).find(
    ProjectMembership,
    { projectId, userId: { $in: wanted } },
    { fields: ['userId'] },
  );
  const known = new Set(members.map(({ userId }) => userId));
  const violation = { code: 'USER_NOT_FOUND', message: 'is not a user who is a member of the project' } as const;
  const details = secrets.flatMap(({ secretReminderRecipients }, index) =>
    (secretReminderRecipients ?? []).flatMap((id, at): ErrorDetail[] =>
      known.has(id.toLowerCase()) ? [] : [{ path: pathOf(index, `secretReminderRecipients[${at}]`), ...violation }],
    ),
  );
  refuseDetails('USER_NOT_FOUND', details);
}

/** A key that a secret of a batch gets, and the path of a violation. */
interface NewKey {
  readonly folderId: string;
  readonly key: string;
  readonly path: string;
}

/**
 * Reports every taken key of a batch. Only for the message: the constraint protects against races.
 *
 * @throws SECRET_KEY_TAKEN
 */
export const refuseTakenKeys = (
  tx: Transaction,
  { folderId, homes, pathOf }: Pick<WriteTarget, 'folderId' | 'homes' | 'pathOf'>,
  keys: readonly string[],
): Promise<void> =>
  refuseTakenIn(
    tx,
    keys.map((key, index) => ({
      folderId: homes?.[index]?.folderId ?? folderId,
      key,
      path: pathOf(index, 'secretKey'),
    })),
  );

async function refuseTakenIn(tx: Transaction, wanted: readonly NewKey[]): Promise<void> {
  const [folderIds, keys] = [wanted.map(({ folderId }) => folderId), wanted.map(({ key }) => key)];
  const taken = new Set((await listTakenKeys(tx, { folderIds, keys, exceptIds: [] })).map(nameOf));
  const violation = { code: 'SECRET_KEY_TAKEN', message: 'already exists in the folder' } as const;
  refuseDetails(
    'SECRET_KEY_TAKEN',
    wanted.flatMap((each) => (taken.has(nameOf(each)) ? [{ path: each.path, ...violation }] : [])),
  );
}

/** A new secret of a batch. */
interface Added {
  readonly home: ExistingFolder;
  readonly secret: NewSecret;
}

/** @throws PERMISSION_DENIED */
export function authorizeNew(
  project: WriteTarget['project'],
  added: readonly Added[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  for (const { home, secret } of added) {
    const { secretKey, tagIds } = secret;
    authorize(project, 'secrets:create', fieldsOf(subjectOf(home.place, secretKey, tagsByIds(tags, tagIds))));
  }
}

/** @throws PERMISSION_DENIED */
export function authorizeChanges(
  project: WriteTarget['project'],
  present: readonly ExistingSecret[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  const changes = present.map(({ home, record, change }) => {
    const tagsAfter = change.tagIds === undefined ? record.tags : tagsByIds(tags, change.tagIds);
    return { before: record, after: subjectOf(home.place, keyAfterChange(change), tagsAfter) };
  });
  // Also where the value is a new one: comment and metadata stay.
  authorizeSubjectChanges(project, changes);
}

/**
 * Reports every taken one of the new keys of a batch.
 *
 * @param batch `isFreed` returns whether a name is that of a secret that the batch itself changes: no two of its secrets
 * get one name
 * @throws SECRET_KEY_TAKEN
 */
export async function refuseTakenNames(
  tx: Transaction,
  target: WriteTarget,
  { changes, isFreed }: { changes: readonly SecretChange[]; isFreed: (name: string) => boolean },
): Promise<void> {
  if (changes.length === 1) return;
  const wanted = changes.flatMap(({ newSecretKey: key }, index): NewKey[] => {
    const { folderId } = folderAt(target, index);
    return key === undefined || isFreed(nameOf({ folderId, key }))
      ? []
      : [{ folderId, key, path: target.pathOf(index, 'newSecretKey') }];
  });
  if (wanted.length > 0) await refuseTakenIn(tx, wanted);
}

/**
 * @param isMissing of each secret whether it is not found; one that the caller may not see is none
 * @throws SECRET_NOT_FOUND, naming each
 */
export function refuseMissing(isMissing: readonly boolean[], pathOf: PathOf): void {
  const details = isMissing.flatMap((is, index): ErrorDetail[] =>
    is
      ? [{ path: pathOf(index, 'secretKey'), code: 'SECRET_NOT_FOUND', message: 'is not a secret of the folder' }]
      : [],
  );
  refuseDetails('SECRET_NOT_FOUND', details);
}
