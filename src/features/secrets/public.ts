import { query } from '../../kernel/database/database.js';
import { newId } from '../../kernel/ids.js';
import type { CreateRootFolders } from '../projects/public.js';

export {
  type ContentsPlan,
  planContents,
  readsAllFolders,
  readsAllSecrets,
} from './copies/copy-plan.js';
export { writeContents } from './copies/copy-writes.js';
export { followEnvironment, forgetEnvironment } from './folders/environment-changes.js';

/** Creates the root folder `/`, named root, of each environment, in one statement. */
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
export { secretKey } from './core/secret.rules.js';
export { SecretType } from './core/secret.type.js';
export { type FoundPlace, loadPlace, loadSecretProject } from './core/secret-place.js';
export { SEALED_SECRETS } from './core/secret-sealing.js';
export { statesToKeep } from './kept-states/kept-states.js';
export { compareWithTrail } from './kept-states/trail-comparison.js';
export { listFolderPlaces, listMapped } from './rotated/rotated.sql.js';
export { relocateRotated } from './rotated/rotated-places.js';
export {
  keepRotatedKeys,
  releaseRotated,
  writeRotated,
} from './rotated/rotated-writes.js';
export { type Place, place } from './scope/place.rules.js';
export { authorizeTagChange } from './versions/tag-changes.js';
