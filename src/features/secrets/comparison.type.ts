import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { soughtConnectionOf } from '../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../kernel/paging.js';
import type { Presence, Verdict } from './comparison.rules.js';
import type { ComparisonView } from './comparison.service.js';

/** GraphQL's names of what a row says. */
const VerdictEnum = {
  MISSING: 'missing',
  DIFFERENT: 'different',
  UNKNOWN: 'unknown',
  EQUAL: 'equal',
} as const satisfies Record<string, Verdict>;
registerEnumType(VerdictEnum, {
  name: 'SecretComparisonVerdict',
  description: 'What secrets of the same path and key are to each other: the first of these that holds.',
  valuesConfig: {
    MISSING: { description: 'At least one environment has no such secret that you may know of.' },
    DIFFERENT: { description: 'At least two of their values differ.' },
    UNKNOWN: {
      description: 'Not all can be compared: you may not read all the values, or not know of all the secrets.',
    },
    EQUAL: { description: 'All environments have it, with the same value.' },
  },
});

/** GraphQL's names of whether a secret is there. */
const PresenceEnum = { PRESENT: 'present', MISSING: 'missing', UNKNOWN: 'unknown' } as const satisfies Record<
  string,
  Presence
>;
registerEnumType(PresenceEnum, {
  name: 'SecretPresence',
  description: 'Whether an environment has a secret.',
  valuesConfig: {
    PRESENT: { description: 'It is there.' },
    MISSING: { description: 'There is none that you may know of.' },
    UNKNOWN: { description: 'You may not know of a secret of this path and key there.' },
  },
});

@InputType({ description: 'What is compared.' })
export class CompareEnvironmentsInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => [String], { description: 'Slugs of its environments, 2 to 5 different ones.' })
  environments!: string[];

  @Field(() => String, { description: 'Path of the folder, the same in all of them.', defaultValue: '/' })
  secretPath!: string;

  @Field(() => Boolean, { description: 'Compare the folders below it too.', defaultValue: false })
  recursive!: boolean;

  @Field(() => Boolean, {
    description: 'Leave out what all the environments have with values that are known to be equal.',
    defaultValue: true,
  })
  onlyDifferences!: boolean;
}

@ObjectType('SecretComparisonSide', {
  description: 'A secret in one of the environments that are compared.',
  simpleResolvers: true,
})
export class SecretComparisonSideType {
  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environmentSlug!: string;

  @Field(() => PresenceEnum, { description: 'Whether it is there.' })
  presence!: Presence;

  @Field(() => ID, { nullable: true, description: 'The secret; null when it is not there.' })
  secretId!: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'The same number for equal values of this row, from 1; null without a value that you may read.',
  })
  valueGroup!: number | null;
}

@ObjectType('SecretComparison', {
  description: 'Secrets of the same path and key in several environments.',
  simpleResolvers: true,
})
export class SecretComparisonType {
  @Field(() => String, { description: 'Path of their folders.' })
  secretPath!: string;

  @Field(() => String, { description: 'Their key.' })
  secretKey!: string;

  @Field(() => VerdictEnum, { description: 'What they are to each other.' })
  verdict!: Verdict;

  @Field(() => [SecretComparisonSideType], {
    description: 'One for each environment, in the order in which they were named.',
  })
  sides!: readonly SecretComparisonSideType[];
}

export const SecretComparisonConnection = soughtConnectionOf(
  SecretComparisonType,
  'SecretComparison',
  'path, then key',
);

/** A comparison as the API shows it. */
export const toComparisonPage = (page: SoughtPage<ComparisonView>): SoughtConnectionOf<SecretComparisonType> =>
  page.map(
    ({ path, key, ...row }) => ({ ...row, secretPath: path, secretKey: key }),
    ({ secretPath, secretKey }) => [secretPath, secretKey],
  );
