import { Extensions, Field, ID, InputType, ObjectType } from 'type-graphql';
import { soughtConnectionOf } from '../../kernel/graphql/page.js';
import { ONE_OF } from '../../kernel/graphql/schema.js';
import type { SearchHit, SearchPage } from './search.service.js';
import { SecretMetadataFilterInput } from './secret.input.js';
import { SecretReadIssue, SecretType, toSecretType } from './secret.type.js';

@InputType({ description: 'Which keys: exactly one of these.' })
@Extensions(ONE_OF)
class SecretKeyFilterInput {
  @Field(() => String, { nullable: true, description: 'Exactly this key.' })
  equals?: string;

  @Field(() => String, { nullable: true, description: 'Keys that start with this.' })
  startsWith?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Keys that fit: `*` is any characters, `?` is one; all others stand for themselves.',
  })
  glob?: string;
}

/** Where a question across projects looks. */
@InputType()
export class WhereInput {
  @Field(() => [ID], {
    nullable: true,
    description: 'Only in these projects, at most 1,000; otherwise in all that you are a member of.',
  })
  projectIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Only in environments of these slugs, at most 100.' })
  environments?: string[] | null;
}

@InputType({ description: 'Which secrets are looked for. All that is given must hold.' })
export class SearchSecretsInput extends WhereInput {
  @Field(() => SecretKeyFilterInput, { nullable: true, description: 'Only these keys.' })
  key?: SecretKeyFilterInput | null;

  @Field(() => String, {
    nullable: true,
    description: 'Only in folders whose path fits: `*` is any characters, slashes too, `?` is one.',
  })
  secretPath?: string | null;

  @Field(() => [String], { nullable: true, description: 'Only secrets with any of these tags, at most 100.' })
  tagSlugs?: string[] | null;

  @Field(() => [SecretMetadataFilterInput], {
    nullable: true,
    description: 'Only secrets with all of these pairs, at most 10.',
  })
  metadata?: SecretMetadataFilterInput[] | null;

  @Field(() => Boolean, { description: 'Open the values; without it none is even read.', defaultValue: false })
  viewSecretValue!: boolean;
}

@ObjectType('SecretSearchHit', { description: 'A secret that was found, and its project.', simpleResolvers: true })
export class SecretSearchHitType {
  @Field(() => SecretType, { description: 'The secret.' })
  secret!: SecretType;

  @Field(() => ID, { description: 'ID of the project that it is in.' })
  projectId!: string;
}

@ObjectType('SecretSearchConnection', {
  description: 'Secrets of many projects, ordered by key, project, environment (both by slug), then path.',
  simpleResolvers: true,
})
export class SecretSearchConnection extends soughtConnectionOf(
  SecretSearchHitType,
  'SecretSearch',
  'key, project, environment, then path',
) {
  @Field(() => [SecretReadIssue], { description: 'What of these secrets cannot be decrypted.' })
  readIssues!: readonly SecretReadIssue[];
}

/** What was found as the API shows it. */
export function toSearchConnection(page: SearchPage): SecretSearchConnection {
  const toHit = ({ secret, position }: SearchHit) => ({
    secret: toSecretType(secret),
    projectId: secret.projectId,
    position,
  });
  const shown = page.map(toHit, ({ position }) => position);
  return Object.assign(shown, { readIssues: page.readIssues });
}
