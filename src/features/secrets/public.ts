export {
  type ContentsPlan,
  planContents,
  readsAllFolders,
  readsAllSecrets,
} from './copies/copy-plan.js';
export { writeContents } from './copies/copy-writes.js';
export { type FoundPlace, loadPlace, loadSecretProject } from './core/load-place.js';
export { secretKey } from './core/secret.rules.js';
export { SecretType } from './core/secret.type.js';
export { SEALED_SECRETS } from './core/secret-sealing.js';
export type { FolderSchema } from './entities/folder.entity.js';
export { followEnvironment, forgetEnvironment } from './folders/environment-changes.js';
export { createRootFolders } from './folders/folder-writes.js';
export { statesToKeep } from './kept-states/kept-states.js';
export { compareWithTrail } from './kept-states/trail-comparison.js';
export { relocateRotated } from './rotated/rotated-places.js';
export {
  keepRotatedKeys,
  releaseRotated,
  writeRotated,
} from './rotated/rotated-writes.js';
export { type Place, place } from './scope/place.rules.js';
export { authorizeTagChange } from './versions/tag-changes.js';
