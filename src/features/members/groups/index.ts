import './groups.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import type { OrganizationReader } from '../../identity/organizations/public.js';
import { membershipRelationOf, type ProjectReader, type ProjectRelations } from '../../projects/public.js';
import { Group } from './group.entity.js';
import { groupsByIds, relationsByIds } from './group.reader.js';
import { GroupResolver, GroupType, groupRelations } from './group.resolver.js';
import { groupRoutes } from './group.routes.js';
import { GroupLinkService, GroupService } from './group.service.js';
import { GroupMember } from './group-member.entity.js';
import { GroupMemberResolver, GroupMembersResolver, groupMemberRelations } from './group-member.resolver.js';
import { GroupMemberService, groupMembersByIds } from './group-member.service.js';

/** Groups that the caller's organization knows of: its own, and those that are linked to it. */
const isKnown = (groupId: string): string =>
  `exists (select from organization_membership k where k.group_id = ${groupId} and k.organization_id = $2)`;

/** Groups of users and machine identities. */
export function createGroups(deps: {
  organizations: OrganizationReader;
  projects: ProjectReader;
  relations: ProjectRelations;
}): Feature {
  const members = new GroupMemberService(deps.projects);
  return {
    entities: [Group, GroupMember],
    resolvers: [
      new GroupResolver(new GroupService(deps.projects), new GroupLinkService(deps.organizations, deps.projects)),
      new GroupMemberResolver(members),
      new GroupMembersResolver(members),
      ...groupRelations(),
      membershipRelationOf(GroupType, deps.relations),
      ...groupMemberRelations(),
    ],
    nodes: [
      nodeKind({
        type: 'Group',
        table: 'member_group',
        reach: isKnown('n.id'),
        load: groupsByIds,
        record: ({ id }) => ({ action: 'group:get', facts: { groupId: id } }),
      }),
      nodeKind({
        type: 'GroupMember',
        table: 'group_member',
        reach: isKnown('n.group_id'),
        load: groupMembersByIds,
        record: ({ groupId, memberKind, memberId }) => ({
          action: 'group-member:get',
          facts: { groupId, memberKind, memberId },
        }),
      }),
      nodeKind({
        type: 'GroupOrganizationMembership',
        table: 'organization_membership',
        reach:
          'n.group_id is not null and n.organization_id in (select o.id from organization o where o.id = $2 or o.parent_id = $2)',
        load: relationsByIds,
        record: ({ groupId, organizationId }) => ({ action: 'group-link:get', facts: { groupId, organizationId } }),
      }),
    ],
    routes: groupRoutes,
    groups: [
      {
        name: 'groups',
        permission: { subject: 'groups', nouns: /^(Groups?)$/ },
        description: 'Groups of users and machine identities that share roles.',
        paths: /^\/api\/v1\/groups\b/,
        parameters: { username: 'Name of the user.' },
      },
    ],
  };
}
