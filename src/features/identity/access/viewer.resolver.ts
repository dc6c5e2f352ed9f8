import { Ctx, FieldResolver, ID, Int, Query, Resolver } from 'type-graphql';
import { rulesOf } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { IdentityType, ownIdentity } from '../identities/public.js';
import { MemberKindEnum, OrganizationType, ownOrganization, ownUser, UserType } from '../organizations/public.js';
import { OrganizationPermissionType, type PermissionRuleType, toShownRules } from '../permissions/public.js';
import { AccessTokenType } from './access-token.resolver.js';
import type { AccessTokenService } from './access-token.service.js';

const ViewerType = objectType('Viewer', 'The caller: its account, its organization and its token.', {
  kind: [MemberKindEnum, 'Whether you are a user or a machine identity.'],
  name: [String, 'Your username, or the name of your machine identity.'],
  identityId: [orNull(ID), 'ID of your machine identity; null for a user.'],
  userId: [orNull(ID), 'ID of your user; null for a machine identity.'],
  organizationId: [ID, 'ID of the organization that your token is scoped to.'],
  token: [AccessTokenType, 'ID of the token that you sent.'],
  usesLeft: [orNull(Int), 'Number of remaining uses of the token; null for no limit.'],
});
type ViewerType = InstanceType<typeof ViewerType>;

@Resolver(() => ViewerType)
export class ViewerResolver {
  constructor(private readonly tokens: AccessTokenService) {}

  @Query(() => ViewerType, {
    description: 'Returns who you are, and what is left of your token. Requires no permissions.',
  })
  async viewer(@Ctx() ctx: Context): Promise<ViewerType> {
    const token = await this.tokens.getOwn(ctx);
    const limit = token.useLimit;
    return {
      kind: token.userId === null ? 'identity' : 'user',
      name: ctx.actor.name,
      identityId: token.identityId,
      userId: token.userId,
      organizationId: ctx.organizationId,
      token,
      usesLeft: limit === 0 ? null : Math.max(0, limit - token.useCount),
    };
  }

  @nested(
    IdentityType,
    'Your machine identity; null for a user, and if it belongs to another organization than your token.',
  )
  async identity({ identityId }: ViewerType, ctx: Context): Promise<IdentityType | null> {
    return identityId === null ? null : ownIdentity(ctx);
  }

  @nested(
    UserType,
    'Your user; null for a machine identity, and if it belongs to another organization than your token.',
  )
  async user({ userId }: ViewerType, ctx: Context): Promise<UserType | null> {
    return userId === null ? null : ownUser(ctx);
  }

  @nested(OrganizationType, 'The organization that your token is scoped to.')
  organization(_viewer: ViewerType, ctx: Context): Promise<OrganizationType | null> {
    return ownOrganization(ctx);
  }

  @FieldResolver(() => [OrganizationPermissionType], {
    description:
      'The permission rules that apply to you in that organization, with your attributes filled in, in order: later ones win.',
  })
  organizationPermissions(@Ctx() ctx: Context): PermissionRuleType[] {
    return toShownRules(rulesOf(ctx.ability));
  }
}
