import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { type CountedConnectionOf, counted } from '../../kernel/paging.js';
import { withPermissions } from '../permissions/public.js';
import { ONLY_IN } from './environment.rules.js';
import type { RoleService } from './role.service.js';
import {
  CreateProjectRoleInput,
  CreateProjectRolePayload,
  DeleteProjectRoleInput,
  DeleteProjectRolePayload,
  ProjectRoleConnection,
  ProjectRoleType,
  RolePageArgs,
  toRoleType,
  UpdateProjectRoleInput,
  UpdateProjectRolePayload,
} from './role.type.js';

@Resolver(() => ProjectRoleType)
export class RoleResolver {
  constructor(private readonly roles: RoleService) {}

  @Query(() => ProjectRoleConnection, {
    description: 'The roles of a project: those that it made, by slug, then the built-in ones, admin first.',
  })
  async projectRoles(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Args(() => RolePageArgs) args: RolePageArgs,
  ): Promise<CountedConnectionOf<ProjectRoleType>> {
    const { page, totalCount } = await this.roles.list(ctx, { projectId, ...args });
    return counted(page.show(toRoleType), totalCount);
  }

  @Query(() => ProjectRoleType, { description: 'One role by its id, a built-in one too.' })
  async projectRole(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the role.' }) id: string,
    @Arg('projectId', () => ID, ONLY_IN) projectId?: string | null,
  ): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.get(ctx, { projectId, id }));
  }

  @Query(() => ProjectRoleType, { description: 'One role of a project by its slug, a built-in one too.' })
  async projectRoleBySlug(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('slug', () => String, { description: 'Its slug.' }) slug: string,
  ): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.getBySlug(ctx, { projectId, slug }));
  }

  @Mutation(() => CreateProjectRolePayload, {
    description: 'Makes a role of a project. It cannot allow more than your own rights do.',
  })
  async createProjectRole(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateProjectRoleInput, { description: 'The new role.' }) input: CreateProjectRoleInput,
  ): Promise<CreateProjectRolePayload> {
    return { role: toRoleType(await this.roles.create(ctx, withPermissions(input))) };
  }

  @Mutation(() => UpdateProjectRolePayload, {
    description:
      'Changes a role of a project, for all who have it, from their next request. It cannot allow more than your own rights do, before or after.',
  })
  async updateProjectRole(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateProjectRoleInput, { description: 'What changes.' }) input: UpdateProjectRoleInput,
  ): Promise<UpdateProjectRolePayload> {
    return { role: toRoleType(await this.roles.update(ctx, withPermissions(input))) };
  }

  @Mutation(() => DeleteProjectRolePayload, { description: 'Deletes a role of a project that no member has.' })
  async deleteProjectRole(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteProjectRoleInput, { description: 'Which one.' }) input: DeleteProjectRoleInput,
  ): Promise<DeleteProjectRolePayload> {
    return { role: toRoleType(await this.roles.delete(ctx, input)) };
  }
}
