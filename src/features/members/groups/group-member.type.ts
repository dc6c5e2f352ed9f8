import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';

/** What the API shows of a member of a group. */
@ObjectType('GroupMember', {
  implements: Node,
  description: 'A user or a machine identity in a group.',
  simpleResolvers: true,
})
export class GroupMemberType extends Node {
  @Field(() => ID, { description: 'ID of the group.' })
  groupId!: string;

  @Field(() => MemberKindEnum, { description: 'Kind of the member: `USER` or `IDENTITY`.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'ID of the user or machine identity.' })
  memberId!: string;

  @Field(() => String, { description: 'Username of the user, or name of the machine identity.' })
  name!: string;

  @Field(() => DateTime, { description: 'When the member was added to the group.' })
  joinedAt!: Date;
}

export const GroupMemberConnection = connectionOf(GroupMemberType, 'GroupMember', 'name, then ID');

@ObjectType({ description: 'Result of `addGroupMembers`.' })
export class AddGroupMembersPayload {
  @Field(() => [GroupMemberType], { description: 'The added members, by name.' })
  members!: readonly GroupMemberType[];
}

@ObjectType({ description: 'Result of `removeGroupMembers`.' })
export class RemoveGroupMembersPayload {
  @Field(() => [GroupMemberType], { description: 'The removed members, by name.' })
  members!: readonly GroupMemberType[];
}
