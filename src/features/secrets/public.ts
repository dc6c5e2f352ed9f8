import { query } from '../../kernel/database/database.js';
import { newId } from '../../kernel/ids.js';
import type { CreateRootFolders, FollowEnvironment, ForgetEnvironment } from '../projects/public.js';
import { authorizeRelocations } from './folder-changes.js';
import { lockEnvironments } from './folder-writes.js';
import { rewriteReferencesInto } from './reference-rewriting.js';
import { lockStructure } from './secret-writes.js';
import { listPastOfEnvironment } from './version.records.js';
import { authorizeSubjectChanges, looksAt } from './visibility.rules.js';

/** Gives each environment its root folder `/`, named root, in one statement. Source: decisions 4.2. */
export const createRootFolders: CreateRootFolders = async (tx, environments) => {
  if (environments.length === 0) return;
  await query(
    tx,
    `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
     select given.id, e.organization_id, e.project_id, e.id, null, 'root', '/'
     from unnest($1::uuid[], $2::uuid[]) as given (id, environment_id) join environment e on e.id = given.environment_id`,
    [environments.map(newId), environments.map(({ id }) => id)],
  );
};

/**
 * References to the secrets of an environment follow its new slug. Where the caller's rules look at environments, he must be
 * one who may edit all that is or was in it under either name: nobody gives himself rights by a slug.
 *
 * @throws PERMISSION_DENIED, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE
 */
export const followEnvironment: FollowEnvironment = async (tx, project, { environmentId, from, to }) => {
  // A folder that is renamed at the same moment would be missed under its other path.
  await lockEnvironments(tx, project.projectId, [from]);
  const folders = await query<{ id: string; path: string }>(
    tx,
    'select id, path from folder where environment_id = $1',
    [environmentId],
  );
  const relocations = folders.map(({ id, path }) => ({
    folderId: id,
    from: { environment: from, path },
    to: { environment: to, path },
  }));
  if (looksAt(project.ability, 'environment')) {
    await authorizeRelocations(tx, project, relocations);
    // Rules look at versions and at deleted secrets by the slug of today.
    const past = await listPastOfEnvironment(tx, environmentId);
    authorizeSubjectChanges(
      project,
      past.map((before) => ({ before, after: { ...before, environment: to } })),
    );
  }
  await rewriteReferencesInto(tx, project, relocations);
};

/**
 * Secrets that are in an environment, or were last, go with it and all that they were, also in other environments: rules look
 * at a version and at where the secret was last, which nobody would know any more.
 */
export const forgetEnvironment: ForgetEnvironment = async (tx, { projectId }, environmentId) => {
  // A secret that is moved in at the same moment would leave its versions of before.
  await lockStructure(tx, projectId);
  await query(
    tx,
    `delete from secret_version v using secret_version n
     where n.environment_id = $1 and v.secret_id = n.secret_id
       and not exists (select from secret_version later where later.secret_id = n.secret_id and later.version > n.version)`,
    [environmentId],
  );
};
