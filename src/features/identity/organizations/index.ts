import './organizations.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { routesAt } from '../../../rest/route.js';
import { OrganizationMembership } from './core/membership.entity.js';
import { Organization } from './core/organization.entity.js';
import { User } from './core/user.entity.js';
import { MemberResolver, memberRelations } from './member.resolver.js';
import { MemberService } from './member.service.js';
import { membersByIds, OrganizationReader, organizationsByIds, UserReader, usersByIds } from './organization.reader.js';
import { OrganizationResolver, organizationRelationOf, organizationRelations } from './organization.resolver.js';
import { OrganizationService } from './organization.service.js';
import { UserResolver, UserType } from './user.resolver.js';
import { UserService } from './user.service.js';

const atOrganization = routesAt('/api/v1/organization', { select: '* -allowedEmailDomains' });
const routes = [atOrganization.get('', 'List the organizations that your token can see', { field: 'organizations' })];

/** Organizations, their users, and who is a member of what. */
export function createOrganizations(): Feature & { organizations: OrganizationReader; users: UserReader } {
  const organizations = new OrganizationReader();
  const users = new UserReader();
  return {
    entities: [Organization, OrganizationMembership, User],
    resolvers: [
      new OrganizationResolver(new OrganizationService(organizations)),
      new UserResolver(new UserService(users)),
      new MemberResolver(new MemberService(organizations)),
      organizationRelations(),
      organizationRelationOf(UserType),
      ...memberRelations(),
    ],
    groups: [
      {
        name: 'organizations',
        description: 'The tenants: your root organization, and the sub-organizations of it.',
        paths: /^\/api\/v\d\/organization$/,
      },
    ],
    routes,
    nodes: [
      nodeKind({
        type: 'Organization',
        table: 'organization',
        reach: '(n.id in ($2, $3) or n.parent_id = $2)',
        load: organizationsByIds,
        record: ({ id }) => ({ action: 'organization:get', facts: { organizationId: id } }),
      }),
      nodeKind({
        type: 'User',
        table: 'app_user',
        reach: 'n.organization_id = $2',
        load: usersByIds,
        record: ({ id }) => ({ action: 'user:get', facts: { userId: id } }),
      }),
      nodeKind({
        type: 'OrganizationMember',
        table: 'organization_membership',
        reach:
          'n.group_id is null and n.organization_id in (select o.id from organization o where o.id = $2 or o.parent_id = $2)',
        load: membersByIds,
        record: ({ organizationId, memberKind, memberId }) => ({
          action: 'organization-member:get',
          facts: { organizationId, memberKind, memberId },
        }),
      }),
    ],
    organizations,
    users,
  };
}
