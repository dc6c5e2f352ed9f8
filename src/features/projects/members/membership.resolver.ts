import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import {
  AddMember,
  AddUsers,
  ListMembers,
  MemberKey,
  MembershipById,
  RemoveUsers,
  UpdateMember,
} from './membership.rules.js';
import type { MembershipService } from './membership.service.js';
import {
  AddProjectUsersPayload,
  ProjectMembershipConnection,
  ProjectMembershipType,
  RemoveProjectUsersPayload,
} from './membership.type.js';

@Resolver(() => ProjectMembershipType)
export class MembershipResolver {
  constructor(private readonly memberships: MembershipService) {}

  @query(ProjectMembershipType, MemberKey, 'Returns a member of a project.')
  projectMembership(ctx: Context, args: object): Promise<ProjectMembershipType> {
    return this.memberships.get(ctx, args);
  }

  @query(ProjectMembershipType, MembershipById, 'Returns a membership by its ID.')
  projectMembershipById(ctx: Context, args: object): Promise<ProjectMembershipType> {
    return this.memberships.getById(ctx, args);
  }

  @query(ProjectMembershipConnection, ListMembers, 'Lists the members of a project.')
  projectMemberships(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectMembershipType>> {
    return this.memberships.list(ctx, args);
  }

  @mutation(
    AddMember,
    { membership: [ProjectMembershipType, 'The new membership.'] },
    'Adds a user, an identity or a group of the organization to a project.',
  )
  async addProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.add(ctx, input) };
  }

  @mutation(
    AddUsers,
    AddProjectUsersPayload,
    'Adds users of the organization to a project by username. Either all are added or none.',
  )
  async addProjectUsers(ctx: Context, input: object): Promise<AddProjectUsersPayload> {
    return { memberships: await this.memberships.addUsers(ctx, input) };
  }

  @mutation(
    UpdateMember,
    { membership: [ProjectMembershipType, 'The updated membership.'] },
    'Replaces the roles of a project member.',
  )
  async updateProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.update(ctx, input) };
  }

  @mutation(
    MemberKey,
    { membership: [ProjectMembershipType, 'The deleted membership.'] },
    'Removes a member from a project. The last admin cannot be removed.',
  )
  async removeProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.remove(ctx, input) };
  }
  @mutation(
    RemoveUsers,
    RemoveProjectUsersPayload,
    'Removes users from a project by username: all or nothing. The last admin cannot be removed.',
  )
  async removeProjectUsers(ctx: Context, input: object): Promise<RemoveProjectUsersPayload> {
    return { memberships: await this.memberships.removeUsers(ctx, input) };
  }
}
