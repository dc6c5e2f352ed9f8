import { type ClassType, ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { OrderedPageArgs } from '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, pageOf } from '../../../kernel/paging.js';
import { IdentityType } from '../../identity/identities/public.js';
import { organizationRelationOf, UserType } from '../../identity/organizations/public.js';
import { ProjectMembershipType } from '../../projects/public.js';
import { Group } from './group.entity.js';
import { groupsByIds, groupsOfMembers, linksOfGroups } from './group.reader.js';
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

const GroupConnection = connectionOf(GroupType, 'Group', 'name, then ID');

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

const GroupOrganizationMembershipConnection = connectionOf(
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

  @creation(
    CreateGroup,
    { group: [GroupType, 'The created group.'] },
    'Creates a group in your organization. Its role cannot grant permissions that you do not have.',
    {
      find: async (groups: GroupResolver, ctx, { slug }) =>
        slug == null
          ? null
          : oneNamed(ctx, Group, { organizationId: ctx.organizationId, slug }, (id) => groups.group(ctx, { id })),
      taken: 'GROUP_SLUG_TAKEN',
      compare: {},
    },
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

/** Gives a type with a `groupId` the group itself. */
export const groupRelationOf = (type: ClassType<{ readonly groupId: string | null }>): object =>
  relations(type, {
    group: relationTo(
      GroupType,
      'The group. Null if you do not have permission to read it.',
      groupsByIds,
      ({ groupId }) => groupId,
    ),
  });

/** Gives users and identities their groups. @returns a class of resolvers */
function groupsRelationOf(type: ClassType<{ readonly id: string }>): new () => object {
  @Resolver(() => type)
  class GroupsRelationResolver {
    @nested(
      GroupConnection,
      'Groups that the member is in, by name: those of your organization and those linked to it.',
      OrderedPageArgs,
    )
    async groups({ id }: { id: string }, ctx: Context, page: object): Promise<CountedConnectionOf<GroupType>> {
      const all = (await batched(ctx, groupsOfMembers, id)) ?? [];
      return counted(orderedPageOf(all, page, { orderable: (group) => group }), async () => all.length);
    }
  }
  return GroupsRelationResolver;
}

@Resolver(() => GroupType)
class GroupOrganizationsResolver {
  @nested(
    GroupOrganizationMembershipConnection,
    'Roles of the group in your organization and, if you have permission to change sub-organizations, in the sub-organizations.',
  )
  async organizationMemberships(
    group: GroupType,
    ctx: Context,
    page: object,
  ): Promise<CountedConnectionOf<GroupOrganizationMembershipType>> {
    return pageOf((await batched(ctx, linksOfGroups, group.id)) ?? [], page, 1, ({ id }) => [id]);
  }
}

/** What groups lead to, and what leads to them. */
export const groupRelations = (): object[] => [
  groupRelationOf(GroupOrganizationMembershipType),
  ...[UserType, IdentityType].map((type) => new (groupsRelationOf(type))()),
  ...[GroupType, GroupOrganizationMembershipType].map((type) => organizationRelationOf(type)),
  relations(ProjectMembershipType, {
    group: relationTo(
      GroupType,
      'The group. Null for other kinds of members, and if you do not have permission to read it in your organization.',
      groupsByIds,
      ({ memberKind, memberId }) => (memberKind === 'group' ? memberId : null),
    ),
  }),
  new GroupOrganizationsResolver(),
];
