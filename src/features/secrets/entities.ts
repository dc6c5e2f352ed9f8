import type { EntityClass } from '../../kernel/database/orm-options.js';
import { Folder } from './folder.entity.js';
import { SecretImport } from './import.entity.js';
import { SecretRotationKey } from './kept-keys/rotation-key.entity.js';
import { PersonalSecret } from './personal.entity.js';
import { SecretReference } from './reference.entity.js';
import { SecretReseal } from './reseal.entity.js';
import { Secret } from './secret.entity.js';
import { SecretTag } from './secret-tag.entity.js';
import { SecretVersion } from './version.entity.js';

/** The tables of this slice. */
export const SECRET_ENTITIES: readonly EntityClass[] = [
  Folder,
  Secret,
  PersonalSecret,
  SecretVersion,
  SecretReference,
  SecretImport,
  SecretReseal,
  SecretTag,
  SecretRotationKey,
];
