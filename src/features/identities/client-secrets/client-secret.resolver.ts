import { Extensions, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { MINT } from '../../../kernel/graphql/limited-operations.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { CreateClientSecret, ListClientSecrets, OneClientSecret } from './client-secret.rules.js';
import type { ClientSecretService } from './client-secret.service.js';
import { ClientSecretConnection, ClientSecretType, CreateClientSecretPayload } from './client-secret.type.js';

@Resolver(() => ClientSecretType)
export class ClientSecretResolver {
  constructor(private readonly service: ClientSecretService) {}

  @query(ClientSecretConnection, ListClientSecrets, 'The client secrets of a machine identity, newest first.')
  clientSecrets(ctx: Context, args: object): Promise<ConnectionOf<ClientSecretType>> {
    return this.service.list(ctx, args);
  }

  @query(ClientSecretType, OneClientSecret, 'One client secret, without the secret itself.')
  clientSecret(ctx: Context, args: object): Promise<ClientSecretType> {
    return this.service.get(ctx, args);
  }

  @Extensions(MINT)
  @mutation(
    CreateClientSecret,
    CreateClientSecretPayload,
    'Makes a client secret, with which a machine identity logs in. It is shown this once.',
  )
  createClientSecret(ctx: Context, input: object): Promise<CreateClientSecretPayload> {
    return this.service.create(ctx, input);
  }

  @mutation(
    OneClientSecret,
    { clientSecretData: [ClientSecretType, 'The client secret as it is now.'] },
    'Revokes a client secret and the tokens of its logins, at once and for good.',
  )
  async revokeClientSecret(ctx: Context, input: object): Promise<{ clientSecretData: ClientSecretType }> {
    return { clientSecretData: await this.service.revoke(ctx, input) };
  }
}
