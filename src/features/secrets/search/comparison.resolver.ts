import { Args, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Input, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { BoundedPageArgs, soughtConnectionOf } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import type { ComparisonService, ComparisonView } from './comparison.service.js';
import { EnvironmentComparison, type Presence, type Verdict } from './search.rules.js';

const VerdictEnum = enumType<Verdict>(
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

const SecretComparisonConnection = soughtConnectionOf(SecretComparisonType, 'SecretComparison', 'path, then key');

/** Converts a comparison to its API type. */
const toComparisonPage = (page: SoughtPage<ComparisonView>): SoughtConnectionOf<SecretComparisonType> =>
  page.map(
    ({ path, key, ...row }) => ({ ...row, secretPath: path, secretKey: key }),
    ({ secretPath, secretKey }) => [secretPath, secretKey],
  );

@Resolver()
export class ComparisonResolver {
  constructor(private readonly service: ComparisonService) {}

  @Query(() => SecretComparisonConnection, {
    description:
      'Compares the secrets of several environments of a project, ordered by path, then key. Values are compared but never returned.',
  })
  async compareEnvironments(
    @Ctx() ctx: Context,
    @Input(CompareEnvironmentsInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SoughtConnectionOf<SecretComparisonType>> {
    return toComparisonPage(await this.service.compare(ctx, { ...input, ...page }));
  }
}
