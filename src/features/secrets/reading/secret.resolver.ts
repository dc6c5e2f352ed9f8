import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/graphql/operations.js';
import { SecretConnection, SecretType, toSecretConnection, toSecretType } from '../core/secret.type.js';
import type { SecretListingService } from './secret-listing.service.js';
import { GetSecret, GetSecretByKey, ListSecrets } from './secret-reading.rules.js';
import type { SecretReadingService } from './secret-reading.service.js';

@Resolver(() => SecretType)
export class SecretResolver {
  constructor(
    private readonly listing: SecretListingService,
    private readonly reading: SecretReadingService,
  ) {}

  @query(
    SecretConnection,
    ListSecrets,
    'Lists the secrets of a folder, ordered by path, then key. A personal value follows the shared secret with the same key.',
  )
  async secrets(ctx: Context, args: object): Promise<SecretConnection> {
    return toSecretConnection(await this.listing.list(ctx, args));
  }

  @query(SecretType, GetSecret, 'Returns a secret by ID.')
  async secret(ctx: Context, args: object): Promise<SecretType> {
    return toSecretType(await this.reading.getById(ctx, args));
  }

  @query(SecretType, GetSecretByKey, 'Returns a secret of a folder by key.')
  async secretByKey(ctx: Context, args: object): Promise<SecretType> {
    return toSecretType(await this.reading.getByKey(ctx, args));
  }
}
