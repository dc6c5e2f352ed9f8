import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { withPermissions } from '../../permissions/public.js';
import { ONLY_IN } from '../core/project.rules.js';
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
    description:
      'Lists the roles of a project: its custom roles, ordered by slug, then the built-in ones, admin first.',
  })
  async projectRoles(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Args(() => RolePageArgs) args: RolePageArgs,
  ): Promise<CountedConnectionOf<ProjectRoleType>> {
    const { page, totalCount } = await this.roles.list(ctx, { projectId, ...args });
    return counted(page.show(toRoleType), totalCount);
  }

  @Query(() => ProjectRoleType, { description: 'Returns a role by ID, including built-in ones.' })
  async projectRole(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the role.' }) id: string,
    @Arg('projectId', () => ID, ONLY_IN) projectId?: string | null,
  ): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.get(ctx, { projectId, id }));
  }

  @Query(() => ProjectRoleType, { description: 'Returns a role of a project by slug, including built-in ones.' })
  async projectRoleBySlug(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('slug', () => String, { description: 'Slug of the role, for example `viewer`.' }) slug: string,
  ): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.getBySlug(ctx, { projectId, slug }));
  }

  @Mutation(() => CreateProjectRolePayload, {
    description: 'Creates a role of a project. It cannot grant more than your own permissions.',
  })
  async createProjectRole(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateProjectRoleInput, { description: 'Fields of the new role.' })
    input: CreateProjectRoleInput,
  ): Promise<CreateProjectRolePayload> {
    return { role: toRoleType(await this.roles.create(ctx, withPermissions(input))) };
  }

  @Mutation(() => UpdateProjectRolePayload, {
    description:
      'Updates a role of a project. The change applies from the next request of each holder. The role cannot grant ' +
      'more than your own permissions, before or after.',
  })
  async updateProjectRole(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateProjectRoleInput, { description: 'The role and its new fields.' })
    input: UpdateProjectRoleInput,
  ): Promise<UpdateProjectRolePayload> {
    return { role: toRoleType(await this.roles.update(ctx, withPermissions(input))) };
  }

  @Mutation(() => DeleteProjectRolePayload, {
    description: 'Deletes a role of a project. Fails while a member has it.',
  })
  async deleteProjectRole(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteProjectRoleInput, { description: 'The role to delete, by ID.' })
    input: DeleteProjectRoleInput,
  ): Promise<DeleteProjectRolePayload> {
    return { role: toRoleType(await this.roles.delete(ctx, input)) };
  }
}
