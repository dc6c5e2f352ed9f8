import { Extensions, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { soughtConnectionOf } from '../../kernel/graphql/page.js';
import { ONE_OF } from '../../kernel/graphql/schema.js';
import type { SoughtConnectionOf, SoughtPage } from '../../kernel/paging.js';
import { useKeyOf } from './usage.records.js';
import type { UseKind } from './usage.rules.js';
import type { UseView } from './usage.service.js';

/** GraphQL's names of the ways in which something is used. */
const UseKindEnum = { IMPORT: 'import', REFERENCE: 'reference' } as const satisfies Record<string, UseKind>;
registerEnumType(UseKindEnum, {
  name: 'SecretUseKind',
  description: 'In which way a secret or a folder is used.',
  valuesConfig: {
    IMPORT: { description: 'A folder imports it.' },
    REFERENCE: { description: 'The value of a secret names it.' },
  },
});

@InputType({ description: 'A secret by its place and key.' })
class UsedSecretInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.', defaultValue: '/' })
  secretPath!: string;

  @Field(() => String, { description: 'Its key.' })
  secretKey!: string;
}

@InputType({ description: 'A folder by its place.' })
class UsedFolderInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Its whole path, from `/`.' })
  path!: string;
}

@InputType({ description: 'What may be used: a secret, or a folder with all its secrets.' })
@Extensions(ONE_OF)
export class WhereUsedInput {
  @Field(() => UsedSecretInput, { nullable: true, description: 'This secret.' })
  secret?: UsedSecretInput;

  @Field(() => UsedFolderInput, { nullable: true, description: 'This folder, and any secret in it.' })
  folder?: UsedFolderInput;
}

@ObjectType('SecretUse', {
  description: 'A secret whose value names what was asked for, or a folder that imports it.',
  simpleResolvers: true,
})
export class SecretUseType {
  @Field(() => UseKindEnum, { description: 'In which way it is used.' })
  kind!: UseKind;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the environment of the user: of the secret, or of the folder.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of this environment.' })
  environmentSlug!: string;

  @Field(() => ID, { description: 'The folder that imports, or that the secret is in.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of this folder.' })
  secretPath!: string;

  @Field(() => ID, { nullable: true, description: 'The secret whose value names it; null for an import.' })
  secretId!: string | null;

  @Field(() => String, { nullable: true, description: 'Key of this secret; null for an import.' })
  secretKey!: string | null;

  @Field(() => String, { nullable: true, description: 'Key of the secret that is named; null for an import.' })
  usedKey!: string | null;

  @Field(() => Boolean, { description: 'The folder imports it through imports of other folders only.' })
  viaImport!: boolean;
}

const ORDER = 'kind, environment (slug), path, then key';
export const SecretUseConnection = soughtConnectionOf(SecretUseType, 'SecretUse', ORDER);

/** Uses as the API shows them. */
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
