import { Extensions, Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { MINT } from '../../../../kernel/graphql/limited-operations.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../../kernel/paging.js';
import { CreateClientSecret, ListClientSecrets, OneClientSecret } from './client-secret.rules.js';
import type { ClientSecretService } from './client-secret.service.js';
import { ClientSecretConnection, ClientSecretType, CreateClientSecretPayload } from './client-secret.type.js';

@Resolver(() => ClientSecretType)
export class ClientSecretResolver {
  constructor(private readonly service: ClientSecretService) {}

  @query(ClientSecretConnection, ListClientSecrets, 'Lists the client secrets of a machine identity, newest first.')
  clientSecrets(ctx: Context, args: object): Promise<ConnectionOf<ClientSecretType>> {
    return this.service.list(ctx, args);
  }

  @query(ClientSecretType, OneClientSecret, 'Returns a client secret, without its value.')
  clientSecret(ctx: Context, args: object): Promise<ClientSecretType> {
    return this.service.get(ctx, args);
  }

  @Extensions(MINT)
  @mutation(
    CreateClientSecret,
    CreateClientSecretPayload,
    'Creates a client secret, which a machine identity uses to log in. Its value is shown only once.',
  )
  createClientSecret(ctx: Context, input: object): Promise<CreateClientSecretPayload> {
    return this.service.create(ctx, input);
  }

  @mutation(
    OneClientSecret,
    { clientSecretData: [ClientSecretType, 'The revoked client secret.'] },
    'Revokes a client secret and all tokens that were issued with it, immediately and permanently.',
  )
  async revokeClientSecret(ctx: Context, input: object): Promise<{ clientSecretData: ClientSecretType }> {
    return { clientSecretData: await this.service.revoke(ctx, input) };
  }
}
