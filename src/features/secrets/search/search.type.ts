import { Extensions, Field, ID, ObjectType } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import { SecretReadIssue, SecretType, toSecretType } from '../core/secret.type.js';
import { KeyFilter, SecretSearch } from './search.rules.js';
import type { SearchHit, SearchPage } from './search.service.js';

Extensions(ONE_OF)(inputType('SecretKeyFilterInput', KeyFilter));
export const SearchSecretsInput = inputType(
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
