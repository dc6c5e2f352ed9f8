import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import {
  AllProjectsMembershipResolver,
  allProjectsRelations,
  allProjectsRoutes,
} from './all-projects-membership.resolver.js';
import { AllProjectsMembershipService, allProjectsMembershipsByIds } from './all-projects-membership.service.js';

/** Members of all projects of an organization, also of those that are made later. */
export const createAllProjects = (): Feature => ({
  entities: [],
  resolvers: [new AllProjectsMembershipResolver(new AllProjectsMembershipService()), ...allProjectsRelations()],
  routes: allProjectsRoutes,
  groups: [
    {
      name: 'all-projects-memberships',
      title: 'Members of all projects',
      description:
        'Users, machine identities and groups with a role in all projects of the organization, including those created later.',
      paths: /\/organization\/all-projects-memberships\b/,
    },
  ],
  nodes: [
    nodeKind({
      type: 'AllProjectsMembership',
      table: 'all_projects_membership',
      reach: 'n.organization_id = $2',
      load: allProjectsMembershipsByIds,
      record: ({ id }) => ({ action: 'all-projects-membership:get', facts: { membershipId: id } }),
    }),
  ],
});
