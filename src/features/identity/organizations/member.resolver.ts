import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import type { MemberService } from './member.service.js';
import { usersByIds } from './organization.reader.js';
import { organizationRelationOf } from './organization.resolver.js';
import { ListMembers, RemoveMember, SetMember, UpdateMember } from './organization.rules.js';
import { UserType } from './user.resolver.js';

/** The kinds of members, of organizations and of projects, as GraphQL names them. */
export const MemberKindEnum = enumType('MemberKind', 'Kinds of members.', {
  user: 'A user: a person with an account.',
  identity: 'A machine identity, for example a service or a deployment pipeline.',
  group: 'A group of users and machine identities.',
});

export const MemberType = objectType(
  'OrganizationMember',
  'Membership of a user or a machine identity in an organization.',
  {
    id: [ID, 'ID of the membership.'],
    memberKind: [MemberKindEnum, 'Kind of the member: `USER` or `IDENTITY`.'],
    memberId: [ID, 'ID of the user or machine identity.'],
    name: [String, 'Username of the user, or name of the machine identity.'],
    organizationId: [ID, 'ID of the organization.'],
    roleSlug: [String, 'Slug of the role of the member in the organization, for example `admin`.'],
    endsAt: [orNull(DateTime), 'When the membership ends or ended. Null if it does not end.'],
  },
  { implements: Node },
);
export type MemberType = InstanceType<typeof MemberType>;

const MemberConnection = connectionOf(MemberType, 'OrganizationMember', 'name, then ID');

@Resolver(() => MemberType)
export class MemberResolver {
  constructor(private readonly service: MemberService) {}

  @query(
    MemberConnection,
    ListMembers,
    'Lists the users and machine identities that are members of your organization or of one of its sub-organizations, by name.',
  )
  organizationMembers(ctx: Context, args: object): Promise<CountedConnectionOf<MemberType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    SetMember,
    { member: [MemberType, 'The updated membership.'] },
    'Adds a user or a machine identity to an organization, or changes the role or the end of its membership.',
  )
  async setOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.set(ctx, input) };
  }

  @mutation(
    UpdateMember,
    { member: [MemberType, 'The updated membership.'] },
    'Changes the role or the end of a membership of an organization.',
  )
  async updateOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.update(ctx, input) };
  }

  @mutation(
    RemoveMember,
    { member: [MemberType, 'The removed membership.'] },
    'Removes a member from an organization. An account cannot be removed from the organization that owns it; delete it instead.',
  )
  async removeOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.remove(ctx, input) };
  }
}

/** What members lead to. */
export const memberRelations = (): object[] => [
  organizationRelationOf(MemberType),
  relations(MemberType, {
    user: relationTo(
      UserType,
      'The user. Null for a machine identity, and for a user that another organization owns.',
      usersByIds,
      ({ memberKind, memberId }) => (memberKind === 'user' ? memberId : null),
    ),
  }),
];
