import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import { MemberKindEnum } from '../organizations/public.js';
import type { MemberKind } from './membership.rules.js';
import type { MembershipService } from './membership.service.js';
import {
  AddProjectMemberInput,
  AddProjectMemberPayload,
  AddProjectUsersInput,
  AddProjectUsersPayload,
  ProjectMembershipConnection,
  ProjectMembershipType,
  RemoveProjectMemberInput,
  RemoveProjectMemberPayload,
  UpdateProjectMemberInput,
  UpdateProjectMemberPayload,
} from './membership.type.js';

@Resolver(() => ProjectMembershipType)
export class MembershipResolver {
  constructor(private readonly memberships: MembershipService) {}

  @Query(() => ProjectMembershipType, { description: 'One member of a project.' })
  projectMembership(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('memberKind', () => MemberKindEnum, { description: 'Who it is.' }) memberKind: MemberKind,
    @Arg('memberId', () => ID, { description: 'Id of the user or identity.' }) memberId: string,
  ): Promise<ProjectMembershipType> {
    return this.memberships.get(ctx, { projectId, memberKind, memberId });
  }

  @Query(() => ProjectMembershipConnection, { description: 'The members of a project.' })
  projectMemberships(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('memberKind', () => MemberKindEnum, {
      nullable: true,
      description: 'Only people, or only machine identities.',
    })
    memberKind?: MemberKind | null,
  ): Promise<ConnectionOf<ProjectMembershipType>> {
    return this.memberships.list(ctx, { ...page, projectId, memberKind });
  }

  @Mutation(() => AddProjectMemberPayload, {
    description: 'Takes a user or identity of the organization into a project.',
  })
  async addProjectMember(
    @Ctx() ctx: Context,
    @Arg('input', () => AddProjectMemberInput, { description: 'Who, and as what.' }) input: AddProjectMemberInput,
  ): Promise<AddProjectMemberPayload> {
    return { membership: await this.memberships.add(ctx, input) };
  }

  @Mutation(() => AddProjectUsersPayload, {
    description: 'Takes users of the organization into a project by their names, all or none.',
  })
  async addProjectUsers(
    @Ctx() ctx: Context,
    @Arg('input', () => AddProjectUsersInput, { description: 'Who, and as what.' }) input: AddProjectUsersInput,
  ): Promise<AddProjectUsersPayload> {
    return { memberships: await this.memberships.addUsers(ctx, input) };
  }

  @Mutation(() => UpdateProjectMemberPayload, { description: 'Replaces the roles of a member.' })
  async updateProjectMember(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateProjectMemberInput, { description: 'Who, and as what.' }) input: UpdateProjectMemberInput,
  ): Promise<UpdateProjectMemberPayload> {
    return { membership: await this.memberships.update(ctx, input) };
  }

  @Mutation(() => RemoveProjectMemberPayload, { description: 'Takes a member out of a project. The last admin stays.' })
  async removeProjectMember(
    @Ctx() ctx: Context,
    @Arg('input', () => RemoveProjectMemberInput, { description: 'Who.' }) input: RemoveProjectMemberInput,
  ): Promise<RemoveProjectMemberPayload> {
    return { membership: await this.memberships.remove(ctx, input) };
  }
}
