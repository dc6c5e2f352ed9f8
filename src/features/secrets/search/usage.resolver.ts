import { Args, Ctx, Extensions, ID, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Input, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { BoundedPageArgs, soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import { UsedFolder, UsedItem, UsedSecret, type UseKind } from './search.rules.js';
import type { UsageService, UseView } from './usage.service.js';
import { useKeyOf } from './usage.sql.js';

const UseKindEnum = enumType<UseKind>('SecretUseKind', 'How a secret or a folder is used.', {
  import: 'A folder imports it.',
  reference: 'The value of a secret references it.',
});

inputType('UsedSecretInput', UsedSecret);
inputType('UsedFolderInput', UsedFolder);
const WhereUsedInput = inputType(
  'WhereUsedInput',
  UsedItem,
  'The secret or the folder to look up. Set exactly one field.',
);
Extensions(ONE_OF)(WhereUsedInput);

export const SecretUseType = objectType(
  'SecretUse',
  'A secret whose value references the item, or a folder that imports it.',
  {
    kind: [UseKindEnum, 'How the item is used.'],
    projectId: [ID, 'ID of the project.'],
    environmentId: [ID, 'ID of the environment of the referencing secret or importing folder.'],
    environmentSlug: [String, 'Slug of this environment, for example `prod`.'],
    folderId: [ID, 'ID of the importing folder, or of the folder of the referencing secret.'],
    secretPath: [String, 'Path of this folder, for example `/payments`.'],
    secretId: [orNull(ID), 'ID of the referencing secret; null for an import.'],
    secretKey: [orNull(String), 'Key of the referencing secret; null for an import.'],
    usedKey: [orNull(String), 'Key of the referenced secret; null for an import.'],
    viaImport: [Boolean, 'Whether the folder imports it only through imports of other folders.'],
  },
);
export type SecretUseType = InstanceType<typeof SecretUseType>;

const ORDER = 'kind, environment (slug), path, then key';
const SecretUseConnection = soughtConnectionOf(SecretUseType, 'SecretUse', ORDER);

/** Converts uses to their API type. */
const toUsePage = (page: SoughtPage<UseView>): SoughtConnectionOf<SecretUseType> =>
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

@Resolver()
export class UsageResolver {
  constructor(private readonly service: UsageService) {}

  @Query(() => SecretUseConnection, {
    description:
      'Lists what uses a secret or a folder: folders that import it, then secrets that reference it and whose values ' +
      'you can read. Ordered by environment, path and key.',
  })
  async whereUsed(
    @Ctx() ctx: Context,
    @Input(WhereUsedInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SoughtConnectionOf<SecretUseType>> {
    return toUsePage(await this.service.whereUsed(ctx, { ...input, ...page }));
  }
}
