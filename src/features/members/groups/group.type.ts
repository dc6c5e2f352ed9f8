import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf, countedConnectionOf } from '../../../kernel/graphql/page.js';

/** What the API shows of a group. */
export const GroupType = objectType(
  'Group',
  'Users and machine identities that share roles.',
  {
    organizationId: [ID, 'ID of the organization that owns the group. Only its members can be in the group.'],
    name: [String, 'Display name of the group.'],
    slug: [String, 'Slug of the group, unique in the organization that owns it, for example `web-team`.'],
    roleSlug: [String, 'Slug of the role that the group gives its members in your organization.'],
    roleId: [orNull(ID), 'ID of that role. Null for a built-in role.'],
    createdAt: [DateTime, 'When the group was created.'],
    updatedAt: [DateTime, 'When the group was last changed. Adding and removing members does not count.'],
  },
  { implements: Node },
);
export type GroupType = InstanceType<typeof GroupType>;

export const GroupConnection = countedConnectionOf(GroupType, 'Group', 'name, then ID');

export const GroupOrganizationMembershipType = objectType(
  'GroupOrganizationMembership',
  'Role of a group in an organization: the one that owns it, or a sub-organization that it is linked to.',
  {
    groupId: [ID, 'ID of the group.'],
    organizationId: [ID, 'ID of the organization.'],
    roleSlug: [String, 'Slug of the role that the group gives its members in that organization.'],
    createdAt: [DateTime, 'When the group got the role: when it was created, or linked to the sub-organization.'],
  },
  { implements: Node },
);
export type GroupOrganizationMembershipType = InstanceType<typeof GroupOrganizationMembershipType>;

export const GroupOrganizationMembershipConnection = connectionOf(
  GroupOrganizationMembershipType,
  'GroupOrganizationMembership',
  'id',
);
