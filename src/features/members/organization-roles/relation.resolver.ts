import { type ClassType, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { IdentityType } from '../../identity/identities/public.js';
import { MemberType, organizationRelationOf, UserType } from '../../identity/organizations/public.js';
import { GroupOrganizationMembershipType, GroupType } from '../groups/public.js';
import { type RoleKey, roleRelationKey, rolesByKeys } from './organization-role.relations.js';
import { OrganizationRoleType } from './organization-role.type.js';

/** Gives a type with a `roleSlug` the role itself. @returns a class of resolvers */
function roleRelationOf(type: ClassType<RoleKey>): new () => object {
  @Resolver(() => type)
  class RoleRelationResolver {
    @nested(OrganizationRoleType, 'The role. Null if you do not have permission to read it.')
    role(held: RoleKey, ctx: Context): Promise<OrganizationRoleType | null> {
      return linked(ctx, rolesByKeys, roleRelationKey(held));
    }
  }
  return RoleRelationResolver;
}

@Resolver(() => GroupType)
class GroupRoleResolver {
  @nested(OrganizationRoleType, 'The role. Null if you do not have permission to read it.')
  role({ roleSlug }: GroupType, ctx: Context): Promise<OrganizationRoleType | null> {
    // That of the organization of the caller, which need not own the group.
    return linked(ctx, rolesByKeys, roleRelationKey({ organizationId: ctx.organizationId, roleSlug }));
  }
}

/** Resolvers of what roles of organizations lead to, and of what leads to them. */
export const organizationRoleRelations = (): object[] => [
  ...[UserType, IdentityType, MemberType, GroupOrganizationMembershipType].map(
    (type: ClassType<RoleKey>) => new (roleRelationOf(type))(),
  ),
  new GroupRoleResolver(),
  new (organizationRelationOf(OrganizationRoleType))(),
];
