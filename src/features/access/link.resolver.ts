import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { ClientSecretType, clientSecretsByIds, IdentityType, identitiesByIds } from '../identities/public.js';
import { OrganizationType, organizationsByIds, UserType, usersByIds } from '../organizations/public.js';
import type { AccessTokenService } from './access-token.service.js';
import { AccessTokenType } from './access-token.type.js';

@Resolver(() => AccessTokenType)
export class AccessTokenLinkResolver {
  constructor(private readonly service: AccessTokenService) {}

  @FieldResolver(() => IdentityType, {
    nullable: true,
    description: 'The machine identity; null for a personal token, and if you may not read it.',
  })
  identity(@Root() { identityId }: AccessTokenType, @Ctx() ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, identityId);
  }

  @FieldResolver(() => UserType, {
    nullable: true,
    description: 'The user; null for the token of a machine identity, and if you may not read it.',
  })
  user(@Root() { userId }: AccessTokenType, @Ctx() ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }

  @FieldResolver(() => OrganizationType, {
    nullable: true,
    description: 'The sub-organization; null for a token of the root organization, and if you may not read it.',
  })
  subOrganization(
    @Root() { subOrganizationId }: AccessTokenType,
    @Ctx() ctx: Context,
  ): Promise<OrganizationType | null> {
    return linked(ctx, organizationsByIds, subOrganizationId);
  }

  @FieldResolver(() => AccessTokenType, {
    nullable: true,
    description: 'The token that made it; null for a token made in another way, and if you may not read it.',
  })
  makerToken(@Root() { makerTokenId }: AccessTokenType, @Ctx() ctx: Context): Promise<AccessTokenType | null> {
    return linked(ctx, this.service.byIds, makerTokenId);
  }

  @FieldResolver(() => ClientSecretType, {
    nullable: true,
    description: 'The client secret; null for a token made in another way, and if you may not read it.',
  })
  identityUAClientSecret(
    @Root() { identityUAClientSecretId }: AccessTokenType,
    @Ctx() ctx: Context,
  ): Promise<ClientSecretType | null> {
    return linked(ctx, clientSecretsByIds, identityUAClientSecretId);
  }
}
