import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { BoundedPageArgs } from '../../../kernel/graphql/page.js';
import type { SecretSearchService } from './search.service.js';
import { SearchSecretsInput, SecretSearchConnection, toSearchConnection } from './search.type.js';

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
