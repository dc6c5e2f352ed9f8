import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { CreateGroup, LinkGroup, ListGroups, OneGroup, UnlinkGroup, UpdateGroup } from './group.rules.js';
import type { GroupService } from './group.service.js';
import { GroupConnection, GroupOrganizationMembershipType, GroupType } from './group.type.js';
import type { GroupLinkService } from './group-link.service.js';

@Resolver(() => GroupType)
export class GroupResolver {
  constructor(
    private readonly service: GroupService,
    private readonly links: GroupLinkService,
  ) {}

  @query(GroupType, OneGroup, 'One group of your organization, or one that is linked to it.')
  group(ctx: Context, args: object): Promise<GroupType> {
    return this.service.get(ctx, args);
  }

  @query(GroupConnection, ListGroups, 'The groups of your organization, and those that are linked to it, by name.')
  groups(ctx: Context, args: object): Promise<CountedConnectionOf<GroupType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    CreateGroup,
    { group: [GroupType, 'The new group.'] },
    'Makes a group of your organization. Its role can allow no more than you may do yourself.',
  )
  async createGroup(ctx: Context, input: object): Promise<{ group: GroupType }> {
    return { group: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateGroup,
    { group: [GroupType, 'The group as it is now.'] },
    'Changes name, slug and role of a group. No role that is given or taken can allow more than you may do yourself.',
  )
  async updateGroup(ctx: Context, input: object): Promise<{ group: GroupType }> {
    return { group: await this.service.update(ctx, input) };
  }

  @mutation(
    OneGroup,
    { group: [GroupType, 'The deleted group.'] },
    'Deletes a group. What its members may do by it ends, in organizations and in projects.',
  )
  async deleteGroup(ctx: Context, input: object): Promise<{ group: GroupType }> {
    return { group: await this.service.delete(ctx, input) };
  }

  @mutation(
    LinkGroup,
    { membership: [GroupOrganizationMembershipType, 'What the group is there now.'] },
    'Gives a group of your root organization a role in a sub-organization. Its members can have tokens for that while it is linked.',
  )
  async linkGroup(ctx: Context, input: object): Promise<{ membership: GroupOrganizationMembershipType }> {
    return { membership: await this.links.link(ctx, input) };
  }

  @mutation(
    UnlinkGroup,
    { membership: [GroupOrganizationMembershipType, 'What the group was there.'] },
    'Ends the role of a group in a sub-organization, and its memberships of the projects there.',
  )
  async unlinkGroup(ctx: Context, input: object): Promise<{ membership: GroupOrganizationMembershipType }> {
    return { membership: await this.links.unlink(ctx, input) };
  }
}
