import { type RawBuilder, sql } from 'kysely';
import type { EntityClass } from '../../../kernel/database/orm-options.js';
import { tablesOf } from '../../../kernel/database/tables.js';
import type { EnvironmentSchema, ProjectMembershipSchema, ProjectSchema } from '../../projects/public.js';
import type { TagSchema } from '../tags/public.js';
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

/** Parameters of statements that are texts, and lists of texts. */
export type TextParams<Name extends string> = Readonly<Record<Name, string>>;
export type ListParams<Name extends string> = Readonly<Record<Name, readonly string[]>>;

type ColumnType = 'uuid' | 'text';

/** Any of these. How many there are stays hidden from the planner: see `arrayOfHiddenLength`. */
export const anyOfTexts = (values: readonly string[], type: ColumnType = 'uuid'): RawBuilder<string> => {
  const array = sql.raw(`${type}[]`);
  return sql`any((select ${values}::${array})::${array})`;
};

/** Rows `given`, from a list for each column: `innerJoin(given({ id: ['uuid', ids] }), 'given.id', 'f.id')`. */
export const rowsOfLists = <Column extends string>(
  columns: Readonly<Record<Column, readonly [ColumnType, readonly (string | null)[]]>>,
) => {
  const [names, lists] = [
    Object.keys(columns),
    Object.values<readonly [ColumnType, readonly (string | null)[]]>(columns),
  ];
  const arrays = lists.map(([type, values]) => sql`(select ${values}::${sql.raw(`${type}[]`)})`);
  return sql<Record<Column, string>>`unnest(${sql.join(arrays)})`.as<'given'>(
    sql`given (${sql.join(names.map((name) => sql.ref(name)))})`,
  );
};
