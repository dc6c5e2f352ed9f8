import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';

/** What the API shows of a member of a group. */
export const GroupMemberType = objectType(
  'GroupMember',
  'A user or a machine identity in a group.',
  {
    groupId: [ID, 'ID of the group.'],
    memberKind: [MemberKindEnum, 'Kind of the member: `USER` or `IDENTITY`.'],
    memberId: [ID, 'ID of the user or machine identity.'],
    name: [String, 'Username of the user, or name of the machine identity.'],
    joinedAt: [DateTime, 'When the member was added to the group.'],
  },
  { implements: Node },
);
export type GroupMemberType = InstanceType<typeof GroupMemberType>;

export const GroupMemberConnection = connectionOf(GroupMemberType, 'GroupMember', 'name, then ID');

export const AddGroupMembersPayload = objectType('AddGroupMembersPayload', 'Result of `addGroupMembers`.', {
  members: [[GroupMemberType], 'The added members, by name.'],
});
export type AddGroupMembersPayload = InstanceType<typeof AddGroupMembersPayload>;

export const RemoveGroupMembersPayload = objectType('RemoveGroupMembersPayload', 'Result of `removeGroupMembers`.', {
  members: [[GroupMemberType], 'The removed members, by name.'],
});
export type RemoveGroupMembersPayload = InstanceType<typeof RemoveGroupMembersPayload>;
