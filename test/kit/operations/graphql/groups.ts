import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Groups, who is in them, and where they are linked. */
export const groups: readonly GraphQLOperation[] = [
  { field: 'groups', audit: 'group:list', denial: powerless('groups:read') },
  { field: 'group', args: { id: '$group' }, audit: 'group:get', denial: powerless('groups:read') },
  {
    field: 'createGroup',
    args: { name: 'Web team', roleSlug: 'member' },
    audit: 'group:create',
    denial: viewer('groups:create'),
  },
  {
    field: 'updateGroup',
    args: { id: '$group', name: 'Web team' },
    audit: 'group:update',
    denial: viewer('groups:edit'),
  },
  { field: 'deleteGroup', args: { id: '$group' }, audit: 'group:delete', denial: viewer('groups:delete') },
  {
    field: 'groupMembers',
    args: { groupId: '$group' },
    audit: 'group-member:list',
    denial: powerless('groups:read'),
  },
  {
    field: 'addGroupMember',
    args: { groupId: '$group', identityId: '$otherIdentity' },
    audit: 'group-member:add',
    denial: viewer('groups:add-identities'),
  },
  {
    field: 'addGroupMembers',
    args: { groupId: '$group', userIds: ['$otherUser'] },
    audit: 'group-member:add',
    denial: viewer('groups:add-members'),
  },
  {
    field: 'removeGroupMember',
    args: { groupId: '$group', userId: '$user' },
    audit: 'group-member:remove',
    denial: viewer('groups:remove-members'),
  },
  {
    field: 'removeGroupMembers',
    args: { groupId: '$group', identityIds: ['$identity'] },
    audit: 'group-member:remove',
    denial: viewer('groups:remove-identities'),
  },
  {
    field: 'linkGroup',
    args: { groupId: '$group', organizationId: '$subOrganization', roleSlug: 'member' },
    audit: 'group:link',
    denial: viewer('groups:edit'),
  },
  {
    field: 'unlinkGroup',
    args: { groupId: '$group', organizationId: '$subOrganization' },
    audit: 'group:unlink',
    denial: viewer('groups:edit'),
  },
];
