import type { ClassType } from 'type-graphql';
import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { IdentityType } from '../../identity/identities/public.js';
import { MemberType, organizationRelationOf, UserType } from '../../identity/organizations/public.js';
import { GroupOrganizationMembershipType, GroupType } from '../groups/public.js';
import { type RoleKey, roleRelationKey, rolesByKeys } from './organization-role.relations.js';
import { OrganizationRoleType } from './organization-role.type.js';

const ROLE = 'The role. Null if you do not have permission to read it.';

/** Resolvers of what roles of organizations lead to, and of what leads to them. */
export const organizationRoleRelations = (): object[] => [
  ...[UserType, IdentityType, MemberType, GroupOrganizationMembershipType].map((type: ClassType<RoleKey>) =>
    relations(type, { role: leadsTo(OrganizationRoleType, ROLE, rolesByKeys, roleRelationKey) }),
  ),
  relations(GroupType, {
    // That of the organization of the caller, which need not own the group.
    role: leadsTo(OrganizationRoleType, ROLE, rolesByKeys, ({ roleSlug }, { organizationId }) =>
      roleRelationKey({ organizationId, roleSlug }),
    ),
  }),
  organizationRelationOf(OrganizationRoleType),
];
