import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { AddMember, AddUsers, ListMembers, MemberKey, UpdateMember } from './members/membership.rules.js';
import {
  AddProjectUsersPayload,
  ProjectMembershipConnection,
  ProjectMembershipType,
} from './members/membership.type.js';
import type { MembershipService } from './membership.service.js';

@Resolver(() => ProjectMembershipType)
export class MembershipResolver {
  constructor(private readonly memberships: MembershipService) {}

  @query(ProjectMembershipType, MemberKey, 'One member of a project.')
  projectMembership(ctx: Context, args: object): Promise<ProjectMembershipType> {
    return this.memberships.get(ctx, args);
  }

  @query(ProjectMembershipConnection, ListMembers, 'The members of a project.')
  projectMemberships(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectMembershipType>> {
    return this.memberships.list(ctx, args);
  }

  @mutation(
    AddMember,
    { membership: [ProjectMembershipType, 'The new membership.'] },
    'Takes a user, an identity or a group of the organization into a project.',
  )
  async addProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.add(ctx, input) };
  }

  @mutation(
    AddUsers,
    AddProjectUsersPayload,
    'Takes users of the organization into a project by their names, all or none.',
  )
  async addProjectUsers(ctx: Context, input: object): Promise<AddProjectUsersPayload> {
    return { memberships: await this.memberships.addUsers(ctx, input) };
  }

  @mutation(
    UpdateMember,
    { membership: [ProjectMembershipType, 'The membership after the change.'] },
    'Replaces the roles of a member.',
  )
  async updateProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.update(ctx, input) };
  }

  @mutation(
    MemberKey,
    { membership: [ProjectMembershipType, 'The deleted membership.'] },
    'Takes a member out of a project. The last admin stays.',
  )
  async removeProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.remove(ctx, input) };
  }
}
