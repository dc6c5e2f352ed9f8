import { Field, ID, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import { EnvironmentComparison, type Presence, type Verdict } from './comparison.rules.js';
import type { ComparisonView } from './comparison.service.js';

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

export const CompareEnvironmentsInput = inputType(
  'CompareEnvironmentsInput',
  EnvironmentComparison,
  'Environments and folder to compare.',
);

@ObjectType('SecretComparisonSide', {
  description: 'The secret in one of the compared environments.',
  simpleResolvers: true,
})
export class SecretComparisonSideType {
  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => PresenceEnum, { description: 'Whether the environment has the secret.' })
  presence!: Presence;

  @Field(() => ID, { nullable: true, description: 'ID of the secret; null when the environment does not have it.' })
  secretId!: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Number of the value in this row, from 1: equal values have the same number. Null without a value that you can read.',
  })
  valueGroup!: number | null;
}

@ObjectType('SecretComparison', {
  description: 'Secrets with the same path and key in several environments.',
  simpleResolvers: true,
})
export class SecretComparisonType {
  @Field(() => String, { description: 'Path of the folder of the secrets, for example `/payments`.' })
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secrets, for example `DB_PASSWORD`.' })
  secretKey!: string;

  @Field(() => VerdictEnum, { description: 'How the secrets compare.' })
  verdict!: Verdict;

  @Field(() => [SecretComparisonSideType], {
    description: 'One item for each environment, in the order of the request.',
  })
  sides!: readonly SecretComparisonSideType[];
}

export const SecretComparisonConnection = soughtConnectionOf(
  SecretComparisonType,
  'SecretComparison',
  'path, then key',
);

/** Converts a comparison to its API type. */
export const toComparisonPage = (page: SoughtPage<ComparisonView>): SoughtConnectionOf<SecretComparisonType> =>
  page.map(
    ({ path, key, ...row }) => ({ ...row, secretPath: path, secretKey: key }),
    ({ secretPath, secretKey }) => [secretPath, secretKey],
  );
