import { authorize } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import type { FieldChange } from '../../identity/permissions/public.js';
import type { ProjectAccess } from '../../projects/public.js';
import { refuseFoldersOfRotations } from '../core/rotated-guard.js';
import { listSecretsWithTag, listSubjects, lockSecretsIn, lockStructure } from '../core/secret.queries.js';
import { rewriteReferencesInto } from '../references/reference-writes.js';
import { parentOf } from '../scope/location.rules.js';
import { authorizeAll, authorizeRename, mayAlways, mayRenameAll } from '../scope/visibility.rules.js';
import type { TagRow } from '../tags/public.js';
import { listPastOfEnvironment, listVersionsWithTag } from '../versions/version.sql.js';
import { deleteHistoriesOf, listFoldersToFollow, lockFoldersOf } from './folder.sql.js';
import { authorizeRelocations } from './folder-changes.js';
import { listImporting } from './import.sql.js';

/**
 * Updates references to the secrets of an environment for its new slug, which may equal the old one. The caller must be allowed to edit and read
 * everything that is or was in it under either slug.
 *
 * @throws PERMISSION_DENIED, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE
 */
export async function followEnvironment(
  tx: Transaction,
  project: ProjectAccess,
  { environmentId, to }: { readonly environmentId: string; readonly to: string },
): Promise<void> {
  // A folder that is renamed concurrently would be missed under its other path.
  await lockStructure(tx, project);
  const folders = await listFoldersToFollow(tx, { environmentId, to });
  if (folders.length === 0) return;
  const relocations = folders.map(({ id, path, environment }) => ({
    folderId: id,
    from: { environment, path },
    to: { environment: to, path },
  }));
  await authorizeRelocations(tx, project, relocations);
  if (!mayRenameAll(project.ability)) {
    // Rules match versions and deleted secrets by the current slug.
    const past = await listPastOfEnvironment(tx, { environmentId });
    await authorizeRename(
      project,
      past.map((before) => ({ before, after: { ...before, environment: to } })),
    );
  }
  await rewriteReferencesInto(tx, project, relocations);
}

/**
 * Secrets that are in an environment, or were last, are deleted with it, with all their versions, also in other
 * environments: rules need the last location of a version, which nobody would know any more. The caller must be allowed
 * to delete all of it, as with a folder.
 *
 * @throws PERMISSION_DENIED, ROTATED_SECRET where a rotation has secrets in it
 */
export async function forgetEnvironment(tx: Transaction, project: ProjectAccess, environmentId: string): Promise<void> {
  // A secret that is moved in concurrently would leave its earlier versions.
  await lockStructure(tx, project);
  await refuseFoldersOfRotations(tx, await authorizeDeletion(tx, project, environmentId), 'id');
  await deleteHistoriesOf(tx, { environmentId });
}

/** @returns IDs of all its folders, which are locked */
async function authorizeDeletion(tx: Transaction, project: ProjectAccess, environmentId: string): Promise<string[]> {
  const folders = await lockFoldersOf(tx, { environmentId });
  const environment = folders[0]?.environment ?? '';
  for (const { path } of folders)
    if (path !== '/') authorize(project, 'secret-folders:delete', { environment, secretPath: parentOf(path) });
  const folderIds = folders.map(({ id }) => id);
  for (const { path } of await listImporting(tx, { folderIds }))
    authorize(project, 'secret-imports:delete', { environment, secretPath: path });
  if (mayAlways(project.ability, ['secrets:delete'])) return folderIds;
  await lockSecretsIn(tx, { folderIds });
  const subjects = [
    ...(await listSubjects(tx, { folderIds })),
    ...(await listPastOfEnvironment(tx, { environmentId })),
  ];
  await authorizeAll(project, 'secrets:delete', subjects);
  return folderIds;
}

/**
 * Allows another slug of a locked tag, or its deletion (null), which changes what rules allow of all that has or had it: secrets, their
 * versions and deleted secrets.
 *
 * @returns the changed fields that rules match on
 * @throws PERMISSION_DENIED unless the caller may edit and read all that, with the old slug and with the new one
 */
export async function authorizeTagChange(
  tx: Transaction,
  project: ProjectAccess,
  { tag, slugAfter }: { readonly tag: TagRow; readonly slugAfter: string | null },
): Promise<FieldChange[]> {
  if (!mayRenameAll(project.ability)) {
    // Rules match versions and deleted secrets by their tags, under the current slugs.
    const carriers = [
      ...(await listSecretsWithTag(tx, { tagId: tag.id })),
      ...(await listVersionsWithTag(tx, { projectId: project.projectId, tagId: tag.id })),
    ];
    const changes = carriers.map((before) => {
      const others = before.tags.filter(({ slug }) => slug !== tag.slug);
      const tags = slugAfter === null ? others : [...others, { slug: slugAfter }];
      return { before, after: { ...before, tags } };
    });
    await authorizeRename(project, changes);
  }
  // Also for an unused tag: requests name tags by ID, and whoever assigns it to a secret relies on its slug.
  const after = { secretTags: slugAfter === null ? [] : [slugAfter] };
  return [{ subject: 'secrets', before: { secretTags: [tag.slug] }, after }];
}
