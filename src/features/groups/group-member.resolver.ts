import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import { type ConnectionOf, pageOf } from '../../kernel/paging.js';
import { byName } from './group.service.js';
import { GroupType } from './group.type.js';
import { ListMembers, ManyMembers, OneMember } from './group-member.rules.js';
import type { GroupMemberService } from './group-member.service.js';
import {
  AddGroupMembersPayload,
  GroupMemberConnection,
  GroupMemberType,
  RemoveGroupMembersPayload,
} from './group-member.type.js';

@Resolver(() => GroupMemberType)
export class GroupMemberResolver {
  constructor(private readonly service: GroupMemberService) {}

  @query(GroupMemberConnection, ListMembers, 'The users and machine identities in a group, by name.')
  groupMembers(ctx: Context, args: object): Promise<ConnectionOf<GroupMemberType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    OneMember,
    { member: [GroupMemberType, 'The new member.'] },
    'Takes a member of the organization into a group. You must have all that the group gives, in organizations and projects.',
  )
  async addGroupMember(ctx: Context, input: object): Promise<{ member: GroupMemberType }> {
    return { member: await this.service.add(ctx, input) };
  }

  @mutation(ManyMembers, AddGroupMembersPayload, 'Takes many into a group at once, all or none: see addGroupMember.')
  async addGroupMembers(ctx: Context, input: object): Promise<AddGroupMembersPayload> {
    return { members: await this.service.addMany(ctx, input) };
  }

  @mutation(
    OneMember,
    { member: [GroupMemberType, 'The former member.'] },
    'Takes a user or a machine identity out of a group. What it could do by the group ends.',
  )
  async removeGroupMember(ctx: Context, input: object): Promise<{ member: GroupMemberType }> {
    return { member: await this.service.remove(ctx, input) };
  }

  @mutation(ManyMembers, RemoveGroupMembersPayload, 'Takes many out of a group at once, all or none.')
  async removeGroupMembers(ctx: Context, input: object): Promise<RemoveGroupMembersPayload> {
    return { members: await this.service.removeMany(ctx, input) };
  }
}

@Resolver(() => GroupType)
export class GroupMembersResolver {
  constructor(private readonly service: GroupMemberService) {}

  @nested(
    [GroupMemberType],
    'Its members, by name: users if you may read members, machine identities if you may read these.',
  )
  members({ id }: GroupType, ctx: Context): Promise<readonly GroupMemberType[]> {
    return this.service.membersOf(ctx, id);
  }

  @nested(GroupMemberConnection, 'As `members`, in pages.')
  async memberConnection(group: GroupType, ctx: Context, page: object): Promise<ConnectionOf<GroupMemberType>> {
    return pageOf(await this.members(group, ctx), page, 2, byName);
  }
}
