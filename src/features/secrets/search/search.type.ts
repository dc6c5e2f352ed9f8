import { Extensions, Field, ID, InputType, ObjectType } from 'type-graphql';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import { SecretMetadataFilterInput } from '../core/secret.input.js';
import { SecretReadIssue, SecretType, toSecretType } from '../core/secret.type.js';
import type { SearchHit, SearchPage } from './search.service.js';

@InputType({ description: 'Filter on keys. Set exactly one field.' })
@Extensions(ONE_OF)
class SecretKeyFilterInput {
  @Field(() => String, { nullable: true, description: 'Keys that equal this string, for example `DB_PASSWORD`.' })
  equals?: string;

  @Field(() => String, { nullable: true, description: 'Keys that start with this string, for example `DB_`.' })
  startsWith?: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Keys that match this pattern, for example `DB_*_URL`. `*` matches any characters and `?` exactly one; there is no escape.',
  })
  glob?: string;
}

/** Scope of a query across projects. */
@InputType()
export class WhereInput {
  @Field(() => [ID], {
    nullable: true,
    description: 'Only these projects, at most 1,000. All projects that you are a member of when absent.',
  })
  projectIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Only environments with these slugs, at most 100.' })
  environments?: string[] | null;
}

@InputType({ description: 'Filter of `searchSecrets`. A secret must match all fields.' })
export class SearchSecretsInput extends WhereInput {
  @Field(() => SecretKeyFilterInput, { nullable: true, description: 'Only secrets whose key matches.' })
  key?: SecretKeyFilterInput | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Only folders whose path matches this pattern, for example `/payments*`. `*` matches any characters, including ' +
      'slashes, and `?` exactly one.',
  })
  secretPath?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Only secrets with at least one of these tags: slugs, at most 100.',
  })
  tagSlugs?: string[] | null;

  @Field(() => [SecretMetadataFilterInput], {
    nullable: true,
    description: 'Only secrets with all of these metadata pairs, at most 10.',
  })
  metadata?: SecretMetadataFilterInput[] | null;

  @Field(() => Boolean, {
    description: 'Whether to decrypt and return the values. Without it no value is read.',
    defaultValue: false,
  })
  viewSecretValue!: boolean;
}

@ObjectType('SecretSearchHit', {
  description: 'A secret found by `searchSecrets`, and its project.',
  simpleResolvers: true,
})
export class SecretSearchHitType {
  @Field(() => SecretType, { description: 'The secret.' })
  secret!: SecretType;

  @Field(() => ID, { description: 'ID of the project of the secret.' })
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
  @Field(() => [SecretReadIssue], { description: 'Parts of these secrets that cannot be decrypted.' })
  readIssues!: readonly SecretReadIssue[];
}

/** Converts search results to their API type. */
export function toSearchConnection(page: SearchPage): SecretSearchConnection {
  const toHit = ({ secret, position }: SearchHit) => ({
    secret: toSecretType(secret),
    projectId: secret.projectId,
    position,
  });
  const shown = page.map(toHit, ({ position }) => position);
  return Object.assign(shown, { readIssues: page.readIssues });
}
