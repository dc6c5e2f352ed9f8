import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf, countedConnectionOf } from '../../kernel/graphql/page.js';

/** What the API shows of a group. */
@ObjectType('Group', {
  implements: Node,
  description: 'Users and machine identities that are given roles together.',
  simpleResolvers: true,
})
export class GroupType extends Node {
  @Field(() => ID, { description: 'The organization that owns it, whose members can join it.' })
  organizationId!: string;

  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, { description: 'Lower-case words joined by hyphens, unique in the organization that owns it.' })
  slug!: string;

  @Field(() => String, { description: 'Slug of the role that its members have in your organization by it.' })
  roleSlug!: string;

  @Field(() => ID, { nullable: true, description: 'ID of that role; null for a built-in one.' })
  roleId!: string | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed; joining and leaving are no changes of it.' })
  updatedAt!: Date;
}

export const GroupConnection = countedConnectionOf(GroupType, 'Group', 'name, then ID');

@ObjectType('GroupOrganizationMembership', {
  implements: Node,
  description: 'What a group is in an organization: the one that owns it, or a sub-organization that it is linked to.',
  simpleResolvers: true,
})
export class GroupOrganizationMembershipType extends Node {
  @Field(() => ID, { description: 'ID of the group.' })
  groupId!: string;

  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role that members of the group have there by it.' })
  roleSlug!: string;

  @Field(() => DateTime, { description: 'Since when.' })
  createdAt!: Date;
}

export const GroupOrganizationMembershipConnection = connectionOf(
  GroupOrganizationMembershipType,
  'GroupOrganizationMembership',
  'id',
);
