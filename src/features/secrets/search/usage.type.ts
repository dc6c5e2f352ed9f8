import { Extensions, Field, ID, ObjectType } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import { UsedFolder, UsedItem, UsedSecret, type UseKind } from './usage.rules.js';
import type { UseView } from './usage.service.js';
import { useKeyOf } from './usage.sql.js';

const UseKindEnum = enumType<UseKind>('SecretUseKind', 'How a secret or a folder is used.', {
  import: 'A folder imports it.',
  reference: 'The value of a secret references it.',
});

inputType('UsedSecretInput', UsedSecret);
inputType('UsedFolderInput', UsedFolder);
export const WhereUsedInput = inputType(
  'WhereUsedInput',
  UsedItem,
  'The secret or the folder to look up. Set exactly one field.',
);
Extensions(ONE_OF)(WhereUsedInput);

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
