import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf, countedConnectionOf } from '../../../kernel/graphql/page.js';

/** What the API shows of a group. */
@ObjectType('Group', {
  implements: Node,
  description: 'Users and machine identities that share roles.',
  simpleResolvers: true,
})
export class GroupType extends Node {
  @Field(() => ID, { description: 'ID of the organization that owns the group. Only its members can be in the group.' })
  organizationId!: string;

  @Field(() => String, { description: 'Display name of the group.' })
  name!: string;

  @Field(() => String, {
    description: 'Slug of the group, unique in the organization that owns it, for example `web-team`.',
  })
  slug!: string;

  @Field(() => String, { description: 'Slug of the role that the group gives its members in your organization.' })
  roleSlug!: string;

  @Field(() => ID, { nullable: true, description: 'ID of that role. Null for a built-in role.' })
  roleId!: string | null;

  @Field(() => DateTime, { description: 'When the group was created.' })
  createdAt!: Date;

  @Field(() => DateTime, {
    description: 'When the group was last changed. Adding and removing members does not count.',
  })
  updatedAt!: Date;
}

export const GroupConnection = countedConnectionOf(GroupType, 'Group', 'name, then ID');

@ObjectType('GroupOrganizationMembership', {
  implements: Node,
  description: 'Role of a group in an organization: the one that owns it, or a sub-organization that it is linked to.',
  simpleResolvers: true,
})
export class GroupOrganizationMembershipType extends Node {
  @Field(() => ID, { description: 'ID of the group.' })
  groupId!: string;

  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role that the group gives its members in that organization.' })
  roleSlug!: string;

  @Field(() => DateTime, {
    description: 'When the group got the role: when it was created, or linked to the sub-organization.',
  })
  createdAt!: Date;
}

export const GroupOrganizationMembershipConnection = connectionOf(
  GroupOrganizationMembershipType,
  'GroupOrganizationMembership',
  'id',
);
