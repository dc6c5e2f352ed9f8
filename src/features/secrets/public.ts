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
export { followEnvironment, forgetEnvironment } from './environment-changes.js';

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
export { statesToKeep } from './kept-states/kept-states.js';
export { type Place, place } from './place.rules.js';
export { listFolderPlaces, listMapped } from './rotated/rotated.sql.js';
export { relocateRotated } from './rotated/rotated-places.js';
export {
  keepRotatedKeys,
  releaseRotated,
  writeRotated,
} from './rotated/rotated-writes.js';
export { secretKey } from './secret.rules.js';
export { SecretType } from './secret.type.js';
export { type FoundPlace, loadPlace, loadSecretProject } from './secret-place.js';
export { SEALED_SECRETS } from './secret-sealing.js';
export { authorizeTagChange } from './tag-changes.js';
export { compareWithTrail } from './trail-comparison.js';
