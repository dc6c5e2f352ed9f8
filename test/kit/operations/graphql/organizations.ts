import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Organizations and users. */
export const organizations: readonly GraphQLOperation[] = [
  { field: 'organizations', audit: 'organization:list', denial: powerless('organization:read') },
  {
    field: 'organization',
    args: { id: '$subOrganization' },
    audit: 'organization:get',
    denial: powerless('organization:read'),
  },
  {
    field: 'createSubOrganization',
    args: { name: 'Berlin' },
    audit: 'sub-organization:create',
    denial: viewer('sub-organization:create'),
  },
  {
    field: 'updateOrganization',
    args: { id: '$organization', name: 'Berlin' },
    audit: 'organization:update',
    denial: viewer('organization:edit'),
  },
  {
    field: 'deleteOrganization',
    args: { id: '$subOrganization' },
    audit: 'organization:delete',
    denial: viewer('sub-organization:delete'),
  },
  {
    field: 'organizationMembers',
    args: { organizationId: '$subOrganization' },
    audit: 'organization-member:list',
    denial: powerless('member:read'),
  },
  {
    field: 'setOrganizationMember',
    args: { organizationId: '$subOrganization', userId: '$user', roleSlug: 'admin' },
    audit: 'organization-member:set',
    denial: viewer('sub-organization:edit'),
  },
  {
    field: 'updateOrganizationMember',
    args: { id: '$userMembership', roleSlug: 'member' },
    audit: 'organization-member:set',
    denial: viewer('member:edit'),
  },
  {
    field: 'removeOrganizationMember',
    args: { organizationId: '$subOrganization', identityId: '$identity' },
    audit: 'organization-member:remove',
    denial: viewer('sub-organization:edit'),
  },
  { field: 'users', audit: 'user:list', denial: powerless('member:read') },
  { field: 'user', args: { id: '$user' }, audit: 'user:get', denial: powerless('member:read') },
  { field: 'createUser', args: { username: 'ada' }, audit: 'user:create', denial: viewer('member:create') },
  {
    field: 'updateUser',
    args: { id: '$user', username: 'ada' },
    audit: 'user:update',
    denial: viewer('member:edit'),
  },
  { field: 'deleteUser', args: { id: '$user' }, audit: 'user:delete', denial: viewer('member:delete') },
];
