import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { ClientSecretType, clientSecretsByIds, IdentityType, identitiesByIds } from '../identities/public.js';
import { OrganizationType, organizationsByIds, UserType, usersByIds } from '../organizations/public.js';
import type { AccessTokenService } from './access-token.service.js';
import { AccessTokenType } from './access-token.type.js';

@Resolver(() => AccessTokenType)
export class AccessTokenRelationResolver {
  constructor(private readonly service: AccessTokenService) {}

  @nested(IdentityType, 'The machine identity; null for a personal token, and if you cannot read it.')
  identity({ identityId }: AccessTokenType, ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, identityId);
  }

  @nested(UserType, 'The user; null for the token of a machine identity, and if you cannot read it.')
  user({ userId }: AccessTokenType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }

  @nested(
    OrganizationType,
    'The sub-organization; null for a token of the root organization, and if you cannot read it.',
  )
  subOrganization({ subOrganizationId }: AccessTokenType, ctx: Context): Promise<OrganizationType | null> {
    return linked(ctx, organizationsByIds, subOrganizationId);
  }

  @nested(
    AccessTokenType,
    'The token that created it; null for a token created in another way, and if you cannot read it.',
  )
  makerToken({ makerTokenId }: AccessTokenType, ctx: Context): Promise<AccessTokenType | null> {
    return linked(ctx, this.service.byIds, makerTokenId);
  }

  @nested(ClientSecretType, 'The client secret; null for a token created in another way, and if you cannot read it.')
  identityUAClientSecret(
    { identityUAClientSecretId }: AccessTokenType,
    ctx: Context,
  ): Promise<ClientSecretType | null> {
    return linked(ctx, clientSecretsByIds, identityUAClientSecretId);
  }
}
