import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const role = { id: '$organizationRole' };

/** Roles of organizations. */
export const organizationRoles: readonly GraphQLOperation[] = [
  { field: 'organizationRoles', audit: 'organization-role:list', denial: powerless('role:read') },
  { field: 'organizationRole', args: role, audit: 'organization-role:get', denial: powerless('role:read') },
  {
    field: 'organizationRoleBySlug',
    args: { slug: '$organizationRoleSlug' },
    audit: 'organization-role:get',
    denial: powerless('role:read'),
  },
  {
    field: 'createOrganizationRole',
    args: {
      slug: 'helper',
      name: 'Helper',
      description: CANARY,
      permissions: [{ subject: 'MEMBER', action: ['ASSIGN_ROLE'], conditions: { role: { is: 'no-access' } } }],
    },
    audit: 'organization-role:create',
    denial: viewer('role:create'),
  },
  {
    field: 'updateOrganizationRole',
    args: { ...role, name: 'Writer' },
    audit: 'organization-role:update',
    denial: viewer('role:edit'),
  },
  {
    field: 'deleteOrganizationRole',
    args: role,
    audit: 'organization-role:delete',
    denial: viewer('role:delete'),
  },
];
