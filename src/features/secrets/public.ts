export {
  type ContentsPlan,
  planContents,
  readsAllFolders,
  readsAllSecrets,
  writeContents,
} from './copies/copied-contents.js';
export { type FoundFolder, loadFolder, loadSecretProject } from './core/load-folder.js';
export { secretKey } from './core/secret.rules.js';
export { SecretType } from './core/secret.type.js';
export { SEALED_SECRETS } from './core/secret-sealing.js';
export type { FolderSchema } from './entities/folder.entity.js';
export { createRootFolders } from './folders/folder-changes.js';
export { authorizeTagChange, followEnvironment, forgetEnvironment } from './folders/followed-changes.js';
export {
  keepRotatedKeys,
  releaseRotated,
  relocateRotated,
  writeRotated,
} from './rotated/rotated-secrets.js';
export { type SecretLocation, secretLocation } from './scope/location.rules.js';
export { compareWithTrail, rerecordStates } from './trail-states.sql.js';
