import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { CreateGroup, LinkGroup, ListGroups, OneGroup, UnlinkGroup, UpdateGroup } from './group.rules.js';
import type { GroupService } from './group.service.js';
import { GroupConnection, GroupOrganizationMembershipType, GroupType } from './group.type.js';
import type { GroupLinkService } from './group-link.service.js';

@Resolver(() => GroupType)
export class GroupResolver {
  constructor(
    private readonly service: GroupService,
    private readonly relations: GroupLinkService,
  ) {}

  @query(GroupType, OneGroup, 'Returns a group of your organization, or a group that is linked to it.')
  group(ctx: Context, args: object): Promise<GroupType> {
    return this.service.get(ctx, args);
  }

  @query(
    GroupConnection,
    ListGroups,
    'Lists the groups of your organization and the groups that are linked to it, by name.',
  )
  groups(ctx: Context, args: object): Promise<CountedConnectionOf<GroupType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    CreateGroup,
    { group: [GroupType, 'The created group.'] },
    'Creates a group in your organization. Its role cannot grant permissions that you do not have.',
  )
  async createGroup(ctx: Context, input: object): Promise<{ group: GroupType }> {
    return { group: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateGroup,
    { group: [GroupType, 'The updated group.'] },
    'Changes the name, slug and role of a group. Neither the old nor the new role can grant permissions that you do not have.',
  )
  async updateGroup(ctx: Context, input: object): Promise<{ group: GroupType }> {
    return { group: await this.service.update(ctx, input) };
  }

  @mutation(
    OneGroup,
    { group: [GroupType, 'The deleted group.'] },
    'Deletes a group. Its members lose the permissions that it grants, in organizations and projects.',
  )
  async deleteGroup(ctx: Context, input: object): Promise<{ group: GroupType }> {
    return { group: await this.service.delete(ctx, input) };
  }

  @mutation(
    LinkGroup,
    { membership: [GroupOrganizationMembershipType, 'The role of the group in the sub-organization.'] },
    'Links a group of your root organization to a sub-organization, with a role there. While it is linked, its members can get tokens for the sub-organization.',
  )
  async linkGroup(ctx: Context, input: object): Promise<{ membership: GroupOrganizationMembershipType }> {
    return { membership: await this.relations.link(ctx, input) };
  }

  @mutation(
    UnlinkGroup,
    { membership: [GroupOrganizationMembershipType, 'The removed role of the group in the sub-organization.'] },
    'Removes the link of a group to a sub-organization, and its memberships in the projects there.',
  )
  async unlinkGroup(ctx: Context, input: object): Promise<{ membership: GroupOrganizationMembershipType }> {
    return { membership: await this.relations.unlink(ctx, input) };
  }
}
