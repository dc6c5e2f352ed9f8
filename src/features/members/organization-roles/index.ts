import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { OrganizationRole } from '../../identity/organizations/public.js';
import { isBuiltInForm } from '../../identity/permissions/public.js';
import {
  OrganizationRoleResolver,
  organizationRoleRelations,
  organizationRoleRoutes,
} from './organization-role.resolver.js';
import { OrganizationRoleService, rolesByIds } from './organization-role.service.js';

/** Roles of organizations: those that they make for themselves, and the built-in ones. */
export const createOrganizationRoles = (): Feature => ({
  entities: [OrganizationRole],
  resolvers: [new OrganizationRoleResolver(new OrganizationRoleService()), ...organizationRoleRelations()],
  routes: organizationRoleRoutes,
  groups: [
    {
      name: 'organization-roles',
      permission: { subject: 'role', nouns: /^(OrganizationRoles?|OrganizationRoleBySlug)$/ },
      title: 'Organization roles',
      description: 'Roles of users, machine identities and groups in your organization.',
      paths: /\/organization\/roles\b/,
    },
  ],
  nodes: [
    nodeKind({
      type: 'OrganizationRole',
      table: 'organization_role',
      reach: 'n.organization_id in (select o.id from organization o where o.id = $2 or o.parent_id = $2)',
      isDerived: isBuiltInForm,
      load: rolesByIds,
      record: ({ id }) => ({ action: 'organization-role:get', facts: { roleId: id } }),
    }),
  ],
});
