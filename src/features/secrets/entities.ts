import type { EntityClass } from '../../kernel/database/orm-options.js';
import { PersonalSecret } from './core/personal.entity.js';
import { Secret } from './core/secret.entity.js';
import { SecretTag } from './core/secret-tag.entity.js';
import { Folder } from './folders/folder.entity.js';
import { SecretImport } from './folders/import.entity.js';
import { SecretRotationKey } from './kept-keys/rotation-key.entity.js';
import { SecretReference } from './references/reference.entity.js';
import { SecretReseal } from './resealing/reseal.entity.js';
import { SecretVersion } from './versions/version.entity.js';

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
