import { type ClassType, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { OrderedPageArgs } from '../../../kernel/graphql/list-order.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { type ConnectionOf, type CountedConnectionOf, counted, pageOf } from '../../../kernel/paging.js';
import { IdentityType, identitiesByIds } from '../../identity/identities/public.js';
import { organizationRelationOf, UserType, usersByIds } from '../../identity/organizations/public.js';
import { ProjectMembershipType } from '../../projects/public.js';
import { groupsByIds, groupsOfMembers, linksOfGroups } from './group.reader.js';
import {
  GroupConnection,
  GroupOrganizationMembershipConnection,
  GroupOrganizationMembershipType,
  GroupType,
} from './group.resolver.js';
import { GroupMemberType } from './group-member.resolver.js';

/** Gives a type with a `groupId` the group itself. */
export const groupRelationOf = (type: ClassType<{ readonly groupId: string | null }>): object =>
  relations(type, {
    group: leadsTo(
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
    @nested([GroupType], 'Groups that the member is in, by name: those of your organization and those linked to it.')
    async groups({ id }: { id: string }, ctx: Context): Promise<readonly GroupType[]> {
      return (await batched(ctx, groupsOfMembers, id)) ?? [];
    }

    @nested(GroupConnection, 'The same as `groups`, with pagination.', OrderedPageArgs)
    async groupConnection(member: { id: string }, ctx: Context, page: object): Promise<CountedConnectionOf<GroupType>> {
      const all = await this.groups(member, ctx);
      return counted(orderedPageOf(all, page, { orderable: (group) => group }), async () => all.length);
    }
  }
  return GroupsRelationResolver;
}

@Resolver(() => GroupType)
export class GroupOrganizationsResolver {
  @nested(
    [GroupOrganizationMembershipType],
    'Roles of the group in your organization and, if you have permission to change sub-organizations, in the sub-organizations.',
  )
  async organizationMemberships({ id }: GroupType, ctx: Context): Promise<readonly GroupOrganizationMembershipType[]> {
    return (await batched(ctx, linksOfGroups, id)) ?? [];
  }

  @nested(GroupOrganizationMembershipConnection, 'The same as `organizationMemberships`, with pagination.')
  async organizationMembershipConnection(
    group: GroupType,
    ctx: Context,
    page: object,
  ): Promise<ConnectionOf<GroupOrganizationMembershipType>> {
    return pageOf(await this.organizationMemberships(group, ctx), page, 1, ({ id }) => [id]);
  }
}

/** Resolvers of what groups lead to, and of what leads to them. */
export const groupRelations = (): object[] => [
  ...[GroupMemberType, GroupOrganizationMembershipType].map((type) => groupRelationOf(type)),
  ...[UserType, IdentityType].map((type) => new (groupsRelationOf(type))()),
  ...[GroupType, GroupOrganizationMembershipType].map((type) => organizationRelationOf(type)),
  relations(ProjectMembershipType, {
    group: leadsTo(
      GroupType,
      'The group. Null for other kinds of members, and if you do not have permission to read it in your organization.',
      groupsByIds,
      ({ memberKind, memberId }) => (memberKind === 'group' ? memberId : null),
    ),
  }),
  relations(GroupMemberType, {
    user: leadsTo(
      UserType,
      'The user. Null for a machine identity, and for a user that another organization owns.',
      usersByIds,
      ({ memberKind, memberId }) => (memberKind === 'user' ? memberId : null),
    ),
    identity: leadsTo(
      IdentityType,
      'The machine identity. Null for a user, and for an identity that another organization owns.',
      identitiesByIds,
      ({ memberKind, memberId }) => (memberKind === 'identity' ? memberId : null),
    ),
  }),
  new GroupOrganizationsResolver(),
];
