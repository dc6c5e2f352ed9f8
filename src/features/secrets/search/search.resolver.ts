import { Args, Ctx, Extensions, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { BoundedPageArgs, soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import { SecretReadIssue, SecretType, toSecretType } from '../core/secret.type.js';
import { KeyFilter, SecretSearch } from './search.rules.js';
import type { SearchHit, SearchPage, SecretSearchService } from './search.service.js';

Extensions(ONE_OF)(inputType('SecretKeyFilterInput', KeyFilter));
const SearchSecretsInput = inputType(
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
class SecretSearchConnection extends soughtConnectionOf(
  SecretSearchHitType,
  'SecretSearch',
  'key, project, environment, then path',
) {
  @Field(() => [SecretReadIssue], { description: 'Parts of these secrets that cannot be decrypted.' })
  readIssues!: readonly SecretReadIssue[];
}

/** Converts search results to their API type. */
function toSearchConnection(page: SearchPage): SecretSearchConnection {
  const toHit = ({ secret, position }: SearchHit) => ({
    secret: toSecretType(secret),
    projectId: secret.projectId,
    position,
  });
  const shown = page.map(toHit, ({ position }) => position);
  return Object.assign(shown, { readIssues: page.readIssues });
}

@Resolver()
export class SecretSearchResolver {
  constructor(private readonly service: SecretSearchService) {}

  @Query(() => SecretSearchConnection, {
    description:
      'Searches the shared secrets of all projects where you can read secrets, ordered by key, project, environment, then path.',
  })
  async searchSecrets(
    @Ctx() ctx: Context,
    @Input(SearchSecretsInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SecretSearchConnection> {
    return toSearchConnection(await this.service.search(ctx, { ...input, ...page }));
  }
}
