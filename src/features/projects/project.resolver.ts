import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { authorize, rulesOf } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { PermissionRuleType, toShownRules } from '../identity/permissions/public.js';
import { BySlug, CreateProject, OneProject } from './core/project.rules.js';
import { ProjectMembershipType } from './members/membership.resolver.js';
import type { MembershipService } from './members/membership.service.js';
import type { MembershipRecord } from './members/memberships.js';
import type { ProjectService } from './project.service.js';
import {
  ProjectConnection,
  ProjectPageArgs,
  ProjectType,
  toProjectConnection,
  toProjectType,
  UpdateProjectInput,
} from './project.type.js';
import { pageSelectsRoles } from './roles/role.resolver.js';

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly memberships: MembershipService,
  ) {}

  @query(ProjectType, OneProject, 'Returns a project that you are a member of.')
  async project(ctx: Context, args: object): Promise<ProjectType> {
    return toProjectType(await this.projects.get(ctx, args));
  }

  @query(ProjectType, BySlug, 'Returns a project that you are a member of, by its slug in your organization.')
  async projectBySlug(ctx: Context, args: object): Promise<ProjectType> {
    return toProjectType(await this.projects.getBySlug(ctx, args));
  }

  @Query(() => ProjectConnection, {
    name: 'projects',
    description:
      'Lists the projects that you are a member of. Selecting their roles requires permission to add members to the organization.',
  })
  async listProjects(
    @Ctx() ctx: Context,
    @Args(() => ProjectPageArgs) args: ProjectPageArgs,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CountedConnectionOf<ProjectType>> {
    return toProjectConnection(await this.projects.list(ctx, { ...args, includeRoles: pageSelectsRoles(info) }));
  }

  @mutation(
    CreateProject,
    { project: [ProjectType, 'The new project. You are its first admin.'] },
    'Creates a project. You become its first admin.',
  )
  async createProject(ctx: Context, input: object): Promise<{ project: ProjectType }> {
    return { project: toProjectType(await this.projects.create(ctx, input)) };
  }

  @mutation(
    UpdateProjectInput,
    { project: [ProjectType, 'The updated project.'] },
    'Updates the settings of a project.',
  )
  async updateProject(ctx: Context, input: object): Promise<{ project: ProjectType }> {
    return { project: toProjectType(await this.projects.update(ctx, input)) };
  }

  @mutation(
    OneProject,
    {
      project: [ProjectType, 'The deleted project.'],
      credentialsLeft: [
        [String],
        'Credentials of its rotations that may stay valid in external systems, because nobody revokes them any more: the system, and their names and IDs there. The audit record of the deletion lists them too.',
      ],
    },
    'Deletes a project with everything in it. Fails while the project is protected against deletion.',
  )
  async deleteProject(
    ctx: Context,
    input: object,
  ): Promise<{ project: ProjectType; credentialsLeft: readonly string[] }> {
    const { project, credentialsLeft } = await this.projects.delete(ctx, input);
    return { project: toProjectType(project), credentialsLeft };
  }

  @FieldResolver(() => [ProjectMembershipType], {
    nullable: true,
    description:
      'The members of the project, ordered by name, then ID: users, identities and groups, each if you can read them; ' +
      'null with PERMISSION_DENIED if you can read none of them.',
  })
  async members(@Ctx() ctx: Context, @Root() project: ProjectType): Promise<readonly MembershipRecord[]> {
    return (await this.memberships.membersOf(ctx, project.access)).nodes;
  }

  @FieldResolver(() => [String], {
    nullable: true,
    description:
      'Values that leak detection ignores; null when there are none. Null with PERMISSION_DENIED if you cannot read settings.',
  })
  secretDetectionIgnoreValues(@Root() { access, secretDetectionIgnoreValues }: ProjectType): readonly string[] | null {
    authorize(access, 'settings:read');
    return secretDetectionIgnoreValues;
  }

  @FieldResolver(() => [PermissionRuleType], {
    description:
      'The permission rules that apply to you in the project, with your attributes filled in, in order: later ones ' +
      'win. `effectivePermissions` also returns where each rule comes from.',
  })
  viewerPermissions(@Root() { access }: ProjectType): PermissionRuleType[] {
    return toShownRules(rulesOf(access.ability));
  }
}
