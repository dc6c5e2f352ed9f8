import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf, countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { CreateGroup, LinkGroup, ListGroups, OneGroup, UnlinkGroup, UpdateGroup } from './group.rules.js';
import type { GroupLinkService, GroupService } from './group.service.js';

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
