import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { soughtConnectionOf } from '../../kernel/graphql/page.js';
import type { SoughtConnectionOf, SoughtPage } from '../../kernel/paging.js';
import type { DuplicateGroup } from './duplicates.service.js';
import { WhereInput } from './search.type.js';

@InputType({ description: 'Where equal values are looked for, and how many must be equal.' })
export class DuplicateValuesInput extends WhereInput {
  @Field(() => Int, { description: 'Only values that at least so many secrets have, 2 to 1,000.', defaultValue: 2 })
  minimum!: number;
}

@ObjectType('DuplicateSecret', {
  description: 'A secret whose value other secrets have too. The value itself is not shown.',
  simpleResolvers: true,
})
export class DuplicateSecretType {
  @Field(() => ID, { description: 'ID of the secret.' })
  secretId!: string;

  @Field(() => ID, { description: 'ID of the project that it is in.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of its environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of its environment.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Path of its folder.' })
  secretPath!: string;

  @Field(() => String, { description: 'Its key.' })
  secretKey!: string;
}

@ObjectType('DuplicateValue', { description: 'Secrets with equal values.', simpleResolvers: true })
export class DuplicateValueType {
  @Field(() => Int, { description: 'How many secrets have the value, among those that you may read.' })
  count!: number;

  @Field(() => [DuplicateSecretType], {
    description: 'These secrets, by key, project, environment, then path; at most the first 1,000.',
  })
  secrets!: readonly DuplicateSecretType[];
}

const ORDER = 'nothing that tells of the values, but always in the same way';
export const DuplicateValueConnection = soughtConnectionOf(DuplicateValueType, 'DuplicateValue', ORDER);

/** Groups as the API shows them. */
export const toDuplicatePage = (page: SoughtPage<DuplicateGroup>): SoughtConnectionOf<DuplicateValueType> =>
  page.map(
    (group) => group,
    ({ position }) => position,
  );
