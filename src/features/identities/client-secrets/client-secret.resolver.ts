import { Arg, Args, Ctx, Extensions, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { MINT } from '../../../kernel/graphql/limited-operations.js';
import type { ConnectionOf } from '../../../kernel/graphql/page.js';
import type { ClientSecretService } from './client-secret.service.js';
import {
  ClientSecretConnection,
  ClientSecretsArgs,
  ClientSecretType,
  CreateClientSecretInput,
  CreateClientSecretPayload,
  RevokeClientSecretInput,
  RevokeClientSecretPayload,
} from './client-secret.type.js';

@Resolver(() => ClientSecretType)
export class ClientSecretResolver {
  constructor(private readonly service: ClientSecretService) {}

  @Query(() => ClientSecretConnection, { description: 'The client secrets of a machine identity, newest first.' })
  clientSecrets(
    @Ctx() ctx: Context,
    @Args(() => ClientSecretsArgs) args: object,
  ): Promise<ConnectionOf<ClientSecretType>> {
    return this.service.list(ctx, args);
  }

  @Query(() => ClientSecretType, { description: 'One client secret, without the secret itself.' })
  clientSecret(
    @Ctx() ctx: Context,
    @Arg('identityId', () => ID, { description: 'The machine identity that it belongs to.' }) identityId: string,
    @Arg('id', () => ID, { description: 'The client secret.' }) id: string,
  ): Promise<ClientSecretType> {
    return this.service.get(ctx, { identityId, id });
  }

  @Extensions(MINT)
  @Mutation(() => CreateClientSecretPayload, {
    description: 'Makes a client secret, with which a machine identity logs in. It is shown this once.',
  })
  createClientSecret(
    @Ctx() ctx: Context,
    @Input(CreateClientSecretInput) input: object,
  ): Promise<CreateClientSecretPayload> {
    return this.service.create(ctx, input);
  }

  @Mutation(() => RevokeClientSecretPayload, {
    description: 'Revokes a client secret and the tokens of its logins, at once and for good.',
  })
  async revokeClientSecret(
    @Ctx() ctx: Context,
    @Input(RevokeClientSecretInput) input: object,
  ): Promise<{ clientSecretData: ClientSecretType }> {
    return { clientSecretData: await this.service.revoke(ctx, input) };
  }
}
