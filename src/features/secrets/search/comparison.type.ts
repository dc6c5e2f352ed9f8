import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import type { Presence, Verdict } from './comparison.rules.js';
import type { ComparisonView } from './comparison.service.js';

/** GraphQL names of the verdicts. */
const VerdictEnum = {
  MISSING: 'missing',
  DIFFERENT: 'different',
  UNKNOWN: 'unknown',
  EQUAL: 'equal',
} as const satisfies Record<string, Verdict>;
registerEnumType(VerdictEnum, {
  name: 'SecretComparisonVerdict',
  description: 'How the secrets with the same path and key compare. The first value that applies is returned.',
  valuesConfig: {
    MISSING: { description: 'At least one environment has no such secret that you can see.' },
    DIFFERENT: { description: 'At least two of the values differ.' },
    UNKNOWN: {
      description: 'The secrets cannot all be compared: you cannot read every value, or cannot see every secret.',
    },
    EQUAL: { description: 'Every environment has the secret, with the same value.' },
  },
});

/** GraphQL names of the presences. */
const PresenceEnum = { PRESENT: 'present', MISSING: 'missing', UNKNOWN: 'unknown' } as const satisfies Record<
  string,
  Presence
>;
registerEnumType(PresenceEnum, {
  name: 'SecretPresence',
  description: 'Whether an environment has a secret.',
  valuesConfig: {
    PRESENT: { description: 'The environment has the secret.' },
    MISSING: { description: 'The environment has no such secret that you can see.' },
    UNKNOWN: { description: 'You are not allowed to see a secret with this path and key in the environment.' },
  },
});

@InputType({ description: 'Environments and folder to compare.' })
export class CompareEnvironmentsInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => [String], {
    description: 'Slugs of 2 to 5 different environments of the project, for example `["staging", "prod"]`.',
  })
  environments!: string[];

  @Field(() => String, {
    description: 'Path of the folder, the same in each environment, for example `/payments`.',
    defaultValue: '/',
  })
  secretPath!: string;

  @Field(() => Boolean, { description: 'Whether to compare the folders below it too.', defaultValue: false })
  recursive!: boolean;

  @Field(() => Boolean, {
    description: 'Whether to leave out secrets that have the same value in every environment.',
    defaultValue: true,
  })
  onlyDifferences!: boolean;
}

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
