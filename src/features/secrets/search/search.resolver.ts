import { Arg, Args, Ctx, Extensions, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Input, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { BoundedPageArgs, searchConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import type { SearchConnectionOf, SearchPage } from '../../../kernel/paging.js';
import { SecretReadIssue, SecretType, toSecretType } from '../core/secret.type.js';
import type { ComparisonService, ComparisonView } from './comparison.service.js';
import type { DuplicateGroup, DuplicatesService } from './duplicates.service.js';
import {
  AgeOrder,
  ageField,
  type ComparisonVerdict,
  DuplicateSearch,
  EnvironmentComparison,
  KeyFilter,
  type Presence,
  SecretSearch,
  UsedFolder,
  UsedItem,
  UsedSecret,
  type UseKind,
} from './search.rules.js';
import type { SearchHit, SecretSearchPage, SecretSearchService } from './search.service.js';
import type { UsageService, UseView } from './usage.service.js';
import { useKeyOf } from './usage.sql.js';

Extensions(ONE_OF)(inputType('SecretKeyFilterInput', KeyFilter));
enumType<AgeOrder['field']>(
  'SecretAgeField',
  'Times that found secrets can be sorted by.',
  {
    VALUE_CHANGED_AT: 'When the shared value was last changed, as in `valueChangedAt`.',
    UPDATED_AT: 'When the secret was last changed in any way.',
  },
  ageField,
);
inputType('SecretAgeOrderInput', AgeOrder);
const SearchSecretsInput = inputType(
  'SearchSecretsInput',
  SecretSearch,
  'Filter of `searchSecrets`. A secret must match all fields.',
);

export const SecretSearchHitType = objectType(
  'SecretSearchHit',
  'A secret found by `searchSecrets`, and its project.',
  {
    secret: [SecretType, 'The secret.'],
    projectId: [ID, 'ID of the project of the secret.'],
  },
);

@ObjectType('SecretSearchConnection', {
  description: 'Secrets of many projects, ordered by key, project, environment (both by slug), then path.',
  simpleResolvers: true,
})
class SecretSearchConnection extends searchConnectionOf(
  SecretSearchHitType,
  'SecretSearch',
  'key, project, environment, then path',
) {
  @Field(() => [SecretReadIssue], { description: 'Parts of these secrets that cannot be decrypted.' })
  readIssues!: readonly SecretReadIssue[];
}

/** Converts search results to their API type. */
function toSearchConnection(page: SecretSearchPage): SecretSearchConnection {
  const toHit = ({ secret, position }: SearchHit) => ({
    secret: toSecretType(secret),
    projectId: secret.projectId,
    position,
  });
  const shown = page.map(toHit, ({ position }) => position);
  return Object.assign(shown, { readIssues: page.readIssues });
}

const DuplicateValuesInput = inputType('DuplicateValuesInput', DuplicateSearch);

export const DuplicateSecretType = objectType(
  'DuplicateSecret',
  'A secret whose value other secrets have too. The value itself is not returned.',
  {
    secretId: [ID, 'ID of the secret.'],
    projectId: [ID, 'ID of the project of the secret.'],
    environmentId: [ID, 'ID of the environment of the secret.'],
    environmentSlug: [String, 'Slug of the environment of the secret, for example `prod`.'],
    secretPath: [String, 'Path of the folder of the secret, for example `/payments`.'],
    secretKey: [String, 'Key of the secret, for example `DB_PASSWORD`.'],
  },
);
export type DuplicateSecretType = InstanceType<typeof DuplicateSecretType>;

const DuplicateValueType = objectType('DuplicateValue', 'Secrets with equal values.', {
  count: [Int, 'Number of secrets with the value, among those that you can read.'],
  secrets: [
    [DuplicateSecretType],
    'The secrets, ordered by key, project, environment, then path; at most the first 1,000.',
  ],
});
type DuplicateValueType = InstanceType<typeof DuplicateValueType>;

const DuplicateValueConnection = searchConnectionOf(
  DuplicateValueType,
  'DuplicateValue',
  'stable, and unrelated to the values',
);

/** Converts groups to their API type. */
const toDuplicatePage = (page: SearchPage<DuplicateGroup>): SearchConnectionOf<DuplicateValueType> =>
  page.map(
    (group) => group,
    ({ position }) => position,
  );

const VerdictEnum = enumType<ComparisonVerdict>(
  'SecretComparisonVerdict',
  'How the secrets with the same path and key compare. The first value that applies is returned.',
  {
    missing: 'At least one environment has no such secret that you can see.',
    different: 'At least two of the values differ.',
    unknown: 'The secrets cannot all be compared: you cannot read every value, or cannot see every secret.',
    equal: 'Every environment has the secret, with the same value.',
  },
);

const PresenceEnum = enumType<Presence>('SecretPresence', 'Whether an environment has a secret.', {
  present: 'The environment has the secret.',
  missing: 'The environment has no such secret that you can see.',
  unknown: 'You are not allowed to see a secret with this path and key in the environment.',
});

const CompareEnvironmentsInput = inputType(
  'CompareEnvironmentsInput',
  EnvironmentComparison,
  'Environments and folder to compare.',
);

export const SecretComparisonSideType = objectType(
  'SecretComparisonSide',
  'The secret in one of the compared environments.',
  {
    environmentId: [ID, 'ID of the environment.'],
    environmentSlug: [String, 'Slug of the environment, for example `prod`.'],
    presence: [PresenceEnum, 'Whether the environment has the secret.'],
    secretId: [orNull(ID), 'ID of the secret; null when the environment does not have it.'],
    valueGroup: [
      orNull(Int),
      'Number of the value in this row, from 1: equal values have the same number. Null without a value that you can read.',
    ],
  },
);
export type SecretComparisonSideType = InstanceType<typeof SecretComparisonSideType>;

const SecretComparisonType = objectType(
  'SecretComparison',
  'Secrets with the same path and key in several environments.',
  {
    secretPath: [String, 'Path of the folder of the secrets, for example `/payments`.'],
    secretKey: [String, 'Key of the secrets, for example `DB_PASSWORD`.'],
    verdict: [VerdictEnum, 'How the secrets compare.'],
    sides: [[SecretComparisonSideType], 'One item for each environment, in the order of the request.'],
  },
);
type SecretComparisonType = InstanceType<typeof SecretComparisonType>;

const SecretComparisonConnection = searchConnectionOf(SecretComparisonType, 'SecretComparison', 'path, then key');

/** Converts a comparison to its API type. */
const toComparisonPage = (page: SearchPage<ComparisonView>): SearchConnectionOf<SecretComparisonType> =>
  page.map(
    ({ path, key, ...row }) => ({ ...row, secretPath: path, secretKey: key }),
    ({ secretPath, secretKey }) => [secretPath, secretKey],
  );

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
    isViaImport: [Boolean, 'Whether the folder imports it only through imports of other folders.'],
  },
);
export type SecretUseType = InstanceType<typeof SecretUseType>;

const ORDER = 'kind, environment (slug), path, then key';
const SecretUseConnection = searchConnectionOf(SecretUseType, 'SecretUse', ORDER);

/** Converts uses to their API type. */
const toUsePage = (page: SearchPage<UseView>): SearchConnectionOf<SecretUseType> =>
  page.map(
    (row) => ({
      ...row,
      environmentSlug: row.environment,
      secretPath: row.path,
      secretKey: row.key,
      isViaImport: row.isIndirect,
    }),
    (use) => useKeyOf(use),
  );

/** What is found across projects and environments. */
@Resolver()
export class SecretSearchResolver {
  constructor(
    private readonly search: SecretSearchService,
    private readonly duplicates: DuplicatesService,
    private readonly comparison: ComparisonService,
    private readonly usage: UsageService,
  ) {}

  @Query(() => SecretSearchConnection, {
    description:
      'Searches the shared secrets of all projects where you can read secrets, ordered by key, project, environment, then path, or as `orderBy` says.',
  })
  async searchSecrets(
    @Ctx() ctx: Context,
    @Input(SearchSecretsInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SecretSearchConnection> {
    return toSearchConnection(await this.search.search(ctx, { ...input, ...page }));
  }

  @Query(() => DuplicateValueConnection, {
    description:
      'Finds values that several shared secrets have in common, in every project where you can read values. Nothing is decrypted.',
  })
  async duplicateValues(
    @Ctx() ctx: Context,
    @Arg('input', () => DuplicateValuesInput, {
      description: 'Where to search.',
      defaultValue: {},
    })
    input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SearchConnectionOf<DuplicateValueType>> {
    return toDuplicatePage(await this.duplicates.list(ctx, { ...input, ...page }));
  }

  @Query(() => SecretComparisonConnection, {
    description:
      'Compares the secrets of several environments of a project, ordered by path, then key. Values are compared but never returned.',
  })
  async compareEnvironments(
    @Ctx() ctx: Context,
    @Input(CompareEnvironmentsInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SearchConnectionOf<SecretComparisonType>> {
    return toComparisonPage(await this.comparison.compare(ctx, { ...input, ...page }));
  }

  @Query(() => SecretUseConnection, {
    description:
      'Lists what uses a secret or a folder: folders that import it, then secrets that reference it and whose values ' +
      'you can read. Ordered by environment, path and key.',
  })
  async whereUsed(
    @Ctx() ctx: Context,
    @Input(WhereUsedInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SearchConnectionOf<SecretUseType>> {
    return toUsePage(await this.usage.whereUsed(ctx, { ...input, ...page }));
  }
}
