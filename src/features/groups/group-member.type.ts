import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { MemberKindEnum } from '../organizations/public.js';

/** What the API shows of a member of a group. */
@ObjectType('GroupMember', {
  implements: Node,
  description: 'A person or a machine identity in a group.',
  simpleResolvers: true,
})
export class GroupMemberType extends Node {
  @Field(() => ID, { description: 'ID of the group.' })
  groupId!: string;

  @Field(() => MemberKindEnum, { description: 'Who it is.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'ID of the user or identity.' })
  memberId!: string;

  @Field(() => String, { description: 'Username of the user, or name of the identity.' })
  name!: string;

  @Field(() => DateTime, { description: 'Since when it is in the group.' })
  joinedAt!: Date;
}

export const GroupMemberConnection = connectionOf(GroupMemberType, 'GroupMember', 'name, then ID');

@ObjectType({ description: 'The new members, by name.' })
export class AddGroupMembersPayload {
  @Field(() => [GroupMemberType], { description: 'The members.' })
  members!: readonly GroupMemberType[];
}

@ObjectType({ description: 'The former members, by name.' })
export class RemoveGroupMembersPayload {
  @Field(() => [GroupMemberType], { description: 'The members as they were.' })
  members!: readonly GroupMemberType[];
}
