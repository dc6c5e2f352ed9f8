import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { withPermissions } from '../../identity/permissions/public.js';
import { CreateRole, ListRoles, OneRole, RoleBySlug } from './role.rules.js';
import type { RoleService } from './role.service.js';
import { ProjectRoleConnection, ProjectRoleType, toRoleType, UpdateProjectRoleInput } from './role.type.js';

@Resolver(() => ProjectRoleType)
export class RoleResolver {
  constructor(private readonly roles: RoleService) {}

  @query(
    ProjectRoleConnection,
    ListRoles,
    'Lists the roles of a project: its custom roles, ordered by slug, then the built-in ones, admin first.',
  )
  async projectRoles(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectRoleType>> {
    const { page, totalCount } = await this.roles.list(ctx, args);
    return counted(page.show(toRoleType), totalCount);
  }

  @query(ProjectRoleType, OneRole, 'Returns a role by ID, including built-in ones.')
  async projectRole(ctx: Context, args: object): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.get(ctx, args));
  }

  @query(ProjectRoleType, RoleBySlug, 'Returns a role of a project by slug, including built-in ones.')
  async projectRoleBySlug(ctx: Context, args: object): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.getBySlug(ctx, args));
  }

  @mutation(
    CreateRole,
    { role: [ProjectRoleType, 'The new role.'] },
    'Creates a role of a project. It cannot grant more than your own permissions.',
  )
  async createProjectRole(ctx: Context, input: object): Promise<{ role: ProjectRoleType }> {
    return { role: toRoleType(await this.roles.create(ctx, withPermissions(input))) };
  }

  @mutation(
    UpdateProjectRoleInput,
    { role: [ProjectRoleType, 'The updated role. The change applies from the next request of each holder.'] },
    'Updates a role of a project. The change applies from the next request of each holder. The role cannot grant ' +
      'more than your own permissions, before or after.',
  )
  async updateProjectRole(ctx: Context, input: object): Promise<{ role: ProjectRoleType }> {
    return { role: toRoleType(await this.roles.update(ctx, withPermissions(input))) };
  }

  @mutation(
    OneRole,
    { role: [ProjectRoleType, 'The deleted role.'] },
    'Deletes a role of a project. Fails while a member has it.',
  )
  async deleteProjectRole(ctx: Context, input: object): Promise<{ role: ProjectRoleType }> {
    return { role: toRoleType(await this.roles.delete(ctx, input)) };
  }
}
