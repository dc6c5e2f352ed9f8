import { Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { IdentityType, identitiesByIds } from '../identities/public.js';
import { organizationLinkOf, UserType, usersByIds } from '../organizations/public.js';
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
    description: 'Your machine identity; null if you may not read it.',
  })
  identity(@Root() { identityId }: ViewerType, @Ctx() ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, identityId);
  }

  @FieldResolver(() => UserType, { nullable: true, description: 'Your user; null if you may not read it.' })
  user(@Root() { userId }: ViewerType, @Ctx() ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }
}

/** Resolvers of who calls. */
export const viewerResolvers = (tokens: AccessTokenService): object[] => [
  new ViewerResolver(tokens),
  new (organizationLinkOf(ViewerType))(),
];
