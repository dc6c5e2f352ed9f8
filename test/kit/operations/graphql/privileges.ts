import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const privilege = { id: '$privilege' };
const member = { projectId: '$project', memberKind: 'IDENTITY', memberId: '$identity' };

/** Additional privileges. */
export const privileges: readonly GraphQLOperation[] = [
  {
    field: 'additionalPrivileges',
    args: member,
    audit: 'additional-privilege:list',
    denial: powerless('identity:read'),
  },
  {
    field: 'additionalPrivilege',
    args: privilege,
    audit: 'additional-privilege:get',
    denial: powerless('identity:read'),
  },
  {
    field: 'additionalPrivilegeBySlug',
    args: { ...member, slug: '$privilegeSlug' },
    audit: 'additional-privilege:get',
    denial: powerless('identity:read'),
  },
  {
    field: 'createAdditionalPrivilege',
    args: {
      ...member,
      slug: 'release-week',
      permissions: [{ subject: 'SECRETS', action: ['READ_VALUE'], conditions: { environment: { is: 'dev' } } }],
      term: { range: '7d' },
    },
    audit: 'additional-privilege:create',
    denial: viewer('identity:edit'),
  },
  {
    field: 'updateAdditionalPrivilege',
    args: { ...privilege, term: { range: '2h' } },
    audit: 'additional-privilege:update',
    denial: viewer('identity:edit'),
  },
  {
    field: 'updateAdditionalPrivilegeBySlug',
    args: { ...member, slug: '$privilegeSlug', newSlug: 'after' },
    audit: 'additional-privilege:update',
    denial: viewer('identity:edit'),
  },
  {
    field: 'deleteAdditionalPrivilegeBySlug',
    args: { ...member, slug: '$privilegeSlug' },
    audit: 'additional-privilege:delete',
    denial: viewer('identity:edit'),
  },
  {
    field: 'deleteAdditionalPrivilege',
    args: privilege,
    audit: 'additional-privilege:delete',
    denial: viewer('identity:edit'),
  },
];
