import { type ClassType, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { nested } from '../../kernel/graphql/operations.js';
import { IdentityType } from '../identities/public.js';
import { MemberType, organizationLinkOf, UserType } from '../organizations/public.js';
import { type RoleKey, roleLinkKey, rolesByKeys } from './organization-role.links.js';
import { OrganizationRoleType } from './organization-role.type.js';

/** Gives a type with a `roleSlug` the role itself. @returns a class of resolvers */
function roleLinkOf(type: ClassType<RoleKey>): new () => object {
  @Resolver(() => type)
  class RoleLinkResolver {
    @nested(OrganizationRoleType, 'The role; null if you may not read it.')
    role(held: RoleKey, ctx: Context): Promise<OrganizationRoleType | null> {
      return linked(ctx, rolesByKeys, roleLinkKey(held));
    }
  }
  return RoleLinkResolver;
}

/** Resolvers of what roles of organizations lead to, and of what leads to them. */
export const organizationRoleLinks = (): object[] => [
  ...[UserType, IdentityType, MemberType].map((type: ClassType<RoleKey>) => new (roleLinkOf(type))()),
  new (organizationLinkOf(OrganizationRoleType))(),
];
