import { type RawBuilder, sql } from 'kysely';
import type { EntityClass } from '../../../kernel/database/orm-options.js';
import { tablesOf } from '../../../kernel/database/tables.js';
import type { EnvironmentSchema, ProjectMembershipSchema, ProjectSchema } from '../../projects/public.js';
import type { TagSchema } from '../../tags/public.js';
import { Folder, type FolderSchema } from './folder.entity.js';
import { SecretImport, type SecretImportSchema } from './import.entity.js';
import { PersonalSecret, type PersonalSecretSchema } from './personal.entity.js';
import { SecretReference, type SecretReferenceSchema } from './reference.entity.js';
import { SecretRotationKey, type SecretRotationKeySchema } from './rotation-key.entity.js';
import { Secret, type SecretSchema } from './secret.entity.js';
import { SecretTag, type SecretTagSchema } from './secret-tag.entity.js';
import { SecretVersion, type SecretVersionSchema } from './version.entity.js';

/** The tables of this slice. */
export const SECRET_ENTITIES: readonly EntityClass[] = [
  Folder,
  Secret,
  PersonalSecret,
  SecretVersion,
  SecretReference,
  SecretImport,
  SecretTag,
  SecretRotationKey,
];

/** For `prepared` statements on them, and on the tables of projects that they are joined with. */
export const tables = tablesOf<
  | typeof FolderSchema
  | typeof SecretSchema
  | typeof PersonalSecretSchema
  | typeof SecretVersionSchema
  | typeof SecretReferenceSchema
  | typeof SecretImportSchema
  | typeof SecretTagSchema
  | typeof SecretRotationKeySchema
  | typeof ProjectSchema
  | typeof ProjectMembershipSchema
  | typeof EnvironmentSchema
  | typeof TagSchema
>();

/** Any of these. How many there are stays hidden from the planner: see `plannedOnce`. */
export const among = (values: readonly string[], type: 'uuid' | 'text' = 'uuid'): RawBuilder<string> => {
  const array = sql.raw(`${type}[]`);
  return sql`any((select ${values}::${array})::${array})`;
};
