import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import { IdentityType, identitiesByIds } from '../identities/public.js';
import { UserType, usersByIds } from '../organizations/public.js';
import {
  ListProjectRescues,
  ListProjectsWithoutAdmin,
  OneProjectRescue,
  RescueProject,
} from './project-rescue.rules.js';
import type { ProjectRescueService } from './project-rescue.service.js';
import {
  ProjectRescueConnection,
  ProjectRescueType,
  ProjectWithoutAdminConnection,
  type ProjectWithoutAdminType,
} from './project-rescue.type.js';

@Resolver(() => ProjectRescueType)
export class ProjectRescueResolver {
  constructor(private readonly service: ProjectRescueService) {}

  @query(ProjectRescueConnection, ListProjectRescues, 'Rescues of projects of your organization, newest first.')
  projectRescues(ctx: Context, args: object): Promise<ConnectionOf<ProjectRescueType>> {
    return this.service.list(ctx, args);
  }

  @query(ProjectRescueType, OneProjectRescue, 'One rescue of a project by its id.')
  projectRescue(ctx: Context, args: object): Promise<ProjectRescueType> {
    return this.service.get(ctx, args);
  }

  @query(
    ProjectWithoutAdminConnection,
    ListProjectsWithoutAdmin,
    'Projects of your organization that need `rescueProject`: no admin without an end has a valid token or client secret and may manage members, and no rescue is active.',
  )
  projectsWithoutAdmin(ctx: Context, args: object): Promise<ConnectionOf<ProjectWithoutAdminType>> {
    return this.service.listWithoutAdmin(ctx, args);
  }

  @mutation(
    RescueProject,
    { rescue: [ProjectRescueType, 'The rescue.'] },
    'Makes you an admin of a project that has none any more, for a limited time in which you appoint a permanent one. If you are an admin there for a shorter time, the rescue replaces that time, and you are no admin when it ends. If you are one for longer, now or later, the rescue is refused.',
  )
  async rescueProject(ctx: Context, input: object): Promise<{ rescue: ProjectRescueType }> {
    return { rescue: await this.service.rescue(ctx, input) };
  }

  @mutation(
    OneProjectRescue,
    { rescue: [ProjectRescueType, 'The rescue as it is now.'] },
    'Ends a rescue before its time, your own or that of a colleague. Who was appointed stays.',
  )
  async revokeProjectRescue(ctx: Context, input: object): Promise<{ rescue: ProjectRescueType }> {
    return { rescue: await this.service.revoke(ctx, input) };
  }

  @nested(UserType, 'Who became an admin; null for a machine identity, and when you may not read it.')
  user({ userId }: ProjectRescueType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }

  @nested(IdentityType, 'Which machine identity became an admin; null for a user, and when you may not read it.')
  identity({ identityId }: ProjectRescueType, ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, identityId);
  }
}
