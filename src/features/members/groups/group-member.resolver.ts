import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, EXISTING } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { accountIds, accountRelations } from '../../identity/identities/public.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { GroupType, groupRelationOf } from './group.resolver.js';
import { AddMembers, ListMembers, ManyMembers, OneMember } from './group-member.rules.js';
import type { GroupMemberService } from './group-member.service.js';

/** What the API shows of a member of a group. */
const GroupMemberType = objectType(
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
type GroupMemberType = InstanceType<typeof GroupMemberType>;

const GroupMemberConnection = connectionOf(GroupMemberType, 'GroupMember', 'name, then ID');

const AddGroupMembersPayload = objectType('AddGroupMembersPayload', 'Result of `addGroupMembers`.', {
  members: [[GroupMemberType], 'The added members, by name.'],
  [EXISTING]: [[GroupMemberType], 'With `onConflict: RETURN_EXISTING`, those who were in the group already, by name.'],
});
type AddGroupMembersPayload = InstanceType<typeof AddGroupMembersPayload>;

const RemoveGroupMembersPayload = objectType('RemoveGroupMembersPayload', 'Result of `removeGroupMembers`.', {
  members: [[GroupMemberType], 'The removed members, by name.'],
});
type RemoveGroupMembersPayload = InstanceType<typeof RemoveGroupMembersPayload>;

@Resolver(() => GroupMemberType)
export class GroupMemberResolver {
  constructor(private readonly service: GroupMemberService) {}

  @query(GroupMemberConnection, ListMembers, 'Lists the users and machine identities in a group, by name.')
  groupMembers(ctx: Context, args: object): Promise<CountedConnectionOf<GroupMemberType>> {
    return this.service.list(ctx, args);
  }

  @creation(
    OneMember,
    { member: [GroupMemberType, 'The added member.'] },
    'Adds a member of the organization to a group. You must have all permissions that the group grants, in organizations and projects.',
    {
      find: (members: GroupMemberResolver, ctx, member) => members.service.get(ctx, member),
      taken: 'ALREADY_A_MEMBER',
      compare: { userId: null, identityId: null },
    },
  )
  async addGroupMember(ctx: Context, input: object): Promise<{ member: GroupMemberType }> {
    return { member: await this.service.add(ctx, input) };
  }

  @mutation(
    AddMembers,
    AddGroupMembersPayload,
    'Adds several members to a group, all or nothing. See `addGroupMember`.',
  )
  async addGroupMembers(ctx: Context, input: object): Promise<AddGroupMembersPayload> {
    return this.service.addMany(ctx, input);
  }

  @mutation(
    OneMember,
    { member: [GroupMemberType, 'The removed member.'] },
    'Removes a user or a machine identity from a group. It loses the permissions that the group grants.',
  )
  async removeGroupMember(ctx: Context, input: object): Promise<{ member: GroupMemberType }> {
    return { member: await this.service.remove(ctx, input) };
  }

  @mutation(ManyMembers, RemoveGroupMembersPayload, 'Removes several members from a group, all or nothing.')
  async removeGroupMembers(ctx: Context, input: object): Promise<RemoveGroupMembersPayload> {
    return { members: await this.service.removeMany(ctx, input) };
  }
}

@Resolver(() => GroupType)
export class GroupMembersResolver {
  constructor(private readonly service: GroupMemberService) {}

  @nested(
    GroupMemberConnection,
    'Members of the group, by name: users if you have permission to read members, machine identities if you have permission to read those.',
  )
  members({ id }: GroupType, ctx: Context, page: object): Promise<CountedConnectionOf<GroupMemberType>> {
    return this.service.membersOf(ctx, id, page);
  }
}

/** What members of groups lead to. */
export const groupMemberRelations = (): object[] => [
  groupRelationOf(GroupMemberType),
  relations(GroupMemberType, {
    ...accountRelations<GroupMemberType>(
      'The user. Null for a machine identity, and for a user that another organization owns.',
      'The machine identity. Null for a user, and for an identity that another organization owns.',
      ({ memberKind, memberId }) => accountIds(memberKind, memberId),
    ),
  }),
];
