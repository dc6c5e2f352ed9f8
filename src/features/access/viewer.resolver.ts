import { Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { IdentityType, ownIdentity } from '../identities/public.js';
import { OrganizationType, ownOrganization, ownUser, UserType } from '../organizations/public.js';
import type { AccessTokenService } from './access-token.service.js';
import { ViewerType } from './viewer.type.js';

@Resolver(() => ViewerType)
export class ViewerResolver {
  constructor(private readonly tokens: AccessTokenService) {}

  @Query(() => ViewerType, { description: 'Who you are, and what your token may still do. Needs no rights.' })
  async viewer(@Ctx() ctx: Context): Promise<ViewerType> {
    const token = await this.tokens.getOwn(ctx);
    const limit = token.accessTokenNumUsesLimit;
    return {
      kind: token.userId === null ? 'identity' : 'user',
      name: ctx.actor.name,
      identityId: token.identityId,
      userId: token.userId,
      organizationId: ctx.organizationId,
      token,
      usesLeft: limit === 0 ? null : Math.max(0, limit - token.accessTokenNumUses),
    };
  }

  @FieldResolver(() => IdentityType, {
    nullable: true,
    description: 'Your machine identity; null for a user, and if another organization than that of your token owns it.',
  })
  identity(@Root() { identityId }: ViewerType, @Ctx() ctx: Context): Promise<IdentityType | null> | null {
    return identityId === null ? null : ownIdentity(ctx);
  }

  @FieldResolver(() => UserType, {
    nullable: true,
    description: 'Your user; null for a machine identity, and if another organization than that of your token owns it.',
  })
  user(@Root() { userId }: ViewerType, @Ctx() ctx: Context): Promise<UserType | null> | null {
    return userId === null ? null : ownUser(ctx);
  }

  @FieldResolver(() => OrganizationType, {
    nullable: true,
    description: 'The organization that your token is scoped to.',
  })
  organization(@Ctx() ctx: Context): Promise<OrganizationType | null> {
    return ownOrganization(ctx);
  }
}
