import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { orderOf } from '../../../kernel/list-order.js';
import { SecretArgs, SecretByKeyArgs, SecretsArgs } from '../core/secret.args.js';
import { SecretConnection, SecretType, toSecretConnection, toSecretType } from '../core/secret.type.js';
import type { SecretListingService } from './secret-listing.service.js';
import type { SecretReadingService } from './secret-reading.service.js';

@Resolver(() => SecretType)
export class SecretResolver {
  constructor(
    private readonly listing: SecretListingService,
    private readonly reading: SecretReadingService,
  ) {}

  @Query(() => SecretConnection, {
    description:
      'Lists the secrets of a folder, ordered by path, then key. A personal value follows the shared secret with the same key.',
  })
  async secrets(@Ctx() ctx: Context, @Args(() => SecretsArgs) args: SecretsArgs): Promise<SecretConnection> {
    return toSecretConnection(await this.listing.list(ctx, args), orderOf(args));
  }

  @Query(() => SecretType, { description: 'Returns a secret by ID.' })
  async secret(@Ctx() ctx: Context, @Args(() => SecretArgs) args: SecretArgs): Promise<SecretType> {
    return toSecretType(await this.reading.getById(ctx, args));
  }

  @Query(() => SecretType, { description: 'Returns a secret of a folder by key.' })
  async secretByKey(@Ctx() ctx: Context, @Args(() => SecretByKeyArgs) args: SecretByKeyArgs): Promise<SecretType> {
    return toSecretType(await this.reading.getByKey(ctx, args));
  }
}
