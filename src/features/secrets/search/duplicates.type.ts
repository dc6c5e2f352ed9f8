import { Field, ID, Int, ObjectType } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../../kernel/paging.js';
import { DuplicateSearch } from './duplicates.rules.js';
import type { DuplicateGroup } from './duplicates.service.js';

export const DuplicateValuesInput = inputType('DuplicateValuesInput', DuplicateSearch);

@ObjectType('DuplicateSecret', {
  description: 'A secret whose value other secrets have too. The value itself is not returned.',
  simpleResolvers: true,
})
export class DuplicateSecretType {
  @Field(() => ID, { description: 'ID of the secret.' })
  secretId!: string;

  @Field(() => ID, { description: 'ID of the project of the secret.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the environment of the secret.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment of the secret, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Path of the folder of the secret, for example `/payments`.' })
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretKey!: string;
}

@ObjectType('DuplicateValue', { description: 'Secrets with equal values.', simpleResolvers: true })
export class DuplicateValueType {
  @Field(() => Int, { description: 'Number of secrets with the value, among those that you can read.' })
  count!: number;

  @Field(() => [DuplicateSecretType], {
    description: 'The secrets, ordered by key, project, environment, then path; at most the first 1,000.',
  })
  secrets!: readonly DuplicateSecretType[];
}

const ORDER = 'stable, and unrelated to the values';
export const DuplicateValueConnection = soughtConnectionOf(DuplicateValueType, 'DuplicateValue', ORDER);

/** Converts groups to their API type. */
export const toDuplicatePage = (page: SoughtPage<DuplicateGroup>): SoughtConnectionOf<DuplicateValueType> =>
  page.map(
    (group) => group,
    ({ position }) => position,
  );
