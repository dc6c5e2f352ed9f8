import { Arg, Args, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { BoundedPageArgs, soughtConnectionOf } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import type { DuplicateGroup, DuplicatesService } from './duplicates.service.js';
import { DuplicateSearch } from './search.rules.js';

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

const ORDER = 'stable, and unrelated to the values';
const DuplicateValueConnection = soughtConnectionOf(DuplicateValueType, 'DuplicateValue', ORDER);

/** Converts groups to their API type. */
const toDuplicatePage = (page: SoughtPage<DuplicateGroup>): SoughtConnectionOf<DuplicateValueType> =>
  page.map(
    (group) => group,
    ({ position }) => position,
  );

@Resolver()
export class DuplicatesResolver {
  constructor(private readonly service: DuplicatesService) {}

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
  ): Promise<SoughtConnectionOf<DuplicateValueType>> {
    return toDuplicatePage(await this.service.list(ctx, { ...input, ...page }));
  }
}
