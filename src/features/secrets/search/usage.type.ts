import { Extensions, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import type { UseKind } from './usage.rules.js';
import type { UseView } from './usage.service.js';
import { useKeyOf } from './usage.sql.js';

/** GraphQL names of the kinds of use. */
const UseKindEnum = { IMPORT: 'import', REFERENCE: 'reference' } as const satisfies Record<string, UseKind>;
registerEnumType(UseKindEnum, {
  name: 'SecretUseKind',
  description: 'How a secret or a folder is used.',
  valuesConfig: {
    IMPORT: { description: 'A folder imports it.' },
    REFERENCE: { description: 'The value of a secret references it.' },
  },
});

@InputType({ description: 'A secret, by location and key.' })
class UsedSecretInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder, for example `/` or `/payments/eu`.', defaultValue: '/' })
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretKey!: string;
}

@InputType({ description: 'A folder, by location.' })
class UsedFolderInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Full path of the folder, for example `/payments/eu`.' })
  path!: string;
}

@InputType({ description: 'The secret or the folder to look up. Set exactly one field.' })
@Extensions(ONE_OF)
export class WhereUsedInput {
  @Field(() => UsedSecretInput, { nullable: true, description: 'The secret to look up.' })
  secret?: UsedSecretInput;

  @Field(() => UsedFolderInput, { nullable: true, description: 'The folder to look up, with every secret in it.' })
  folder?: UsedFolderInput;
}

@ObjectType('SecretUse', {
  description: 'A secret whose value references the item, or a folder that imports it.',
  simpleResolvers: true,
})
export class SecretUseType {
  @Field(() => UseKindEnum, { description: 'How the item is used.' })
  kind!: UseKind;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the environment of the referencing secret or importing folder.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of this environment, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => ID, { description: 'ID of the importing folder, or of the folder of the referencing secret.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of this folder, for example `/payments`.' })
  secretPath!: string;

  @Field(() => ID, { nullable: true, description: 'ID of the referencing secret; null for an import.' })
  secretId!: string | null;

  @Field(() => String, { nullable: true, description: 'Key of the referencing secret; null for an import.' })
  secretKey!: string | null;

  @Field(() => String, { nullable: true, description: 'Key of the referenced secret; null for an import.' })
  usedKey!: string | null;

  @Field(() => Boolean, { description: 'Whether the folder imports it only through imports of other folders.' })
  viaImport!: boolean;
}

const ORDER = 'kind, environment (slug), path, then key';
export const SecretUseConnection = soughtConnectionOf(SecretUseType, 'SecretUse', ORDER);

/** Converts uses to their API type. */
export const toUsePage = (page: SoughtPage<UseView>): SoughtConnectionOf<SecretUseType> =>
  page.map(
    (row) => ({
      ...row,
      environmentSlug: row.environment,
      secretPath: row.path,
      secretKey: row.key,
      viaImport: row.isIndirect,
    }),
    (use) => useKeyOf(use),
  );
