import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { authorize, rulesOf } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { creation } from '../../kernel/graphql/creation.js';
import { OrderedPageArgs } from '../../kernel/graphql/list-order.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import { PermissionRuleType, toShownRules } from '../identity/permissions/public.js';
import { BySlug, CreateProject, OneProject } from './core/project.rules.js';
import { EnvironmentFilterArgs, EnvironmentType } from './environments/environment.resolver.js';
import { EnvironmentFilter } from './environments/environment.rules.js';
import { ProjectMembershipConnection, type ProjectMembershipType } from './members/membership.resolver.js';
import type { MembershipService } from './members/membership.service.js';
import type { ProjectService } from './project.service.js';
import {
  ProjectConnection,
  ProjectPageArgs,
  ProjectType,
  toProjectConnection,
  toProjectType,
  UpdateProjectInput,
} from './project.type.js';
import {
  ProjectRoleConnection,
  type ProjectRoleType,
  pageSelectsRoles,
  RolePageArgs,
  toRoleType,
} from './roles/role.resolver.js';
import type { RoleService } from './roles/role.service.js';

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly memberships: MembershipService,
    private readonly roleService: RoleService,
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
      'Lists the projects that you have access to, or all projects of the organization: see `scope`. Selecting their roles requires permission to add members to the organization.',
  })
  async listProjects(
    @Ctx() ctx: Context,
    @Args(() => ProjectPageArgs) args: ProjectPageArgs,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CountedConnectionOf<ProjectType>> {
    return toProjectConnection(await this.projects.list(ctx, { ...args, includeRoles: pageSelectsRoles(info) }));
  }

  @creation(
    CreateProject,
    { project: [ProjectType, 'The new project. You are its first admin.'] },
    'Creates a project. You become its first admin.',
    {
      find: async (projects: ProjectResolver, ctx, { slug }) =>
        slug == null ? null : projects.projectBySlug(ctx, { slug }),
      taken: 'PROJECT_SLUG_TAKEN',
      // What a template or the default gave may have changed since.
      compare: { kmsKeyId: (project) => project.kmsSecretManagerKeyId, template: null, shouldCreateDefaultEnvs: null },
    },
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

  @nested(
    ProjectMembershipConnection,
    'The members of the project, ordered by name, then ID: users, identities and groups, each if you can read them; ' +
      'null with PERMISSION_DENIED if you can read none of them.',
    OrderedPageArgs,
  )
  members(project: ProjectType, ctx: Context, page: object): Promise<CountedConnectionOf<ProjectMembershipType>> {
    return this.memberships.membersOf(ctx, project.access, page);
  }

  @nested(
    ProjectRoleConnection,
    'The roles of the project: its own, ordered by slug, then the built-in ones, admin first; null with PERMISSION_DENIED if you cannot read roles.',
    RolePageArgs,
  )
  async roles(project: ProjectType, ctx: Context, asked: object): Promise<CountedConnectionOf<ProjectRoleType>> {
    const { page, totalCount } = await this.roleService.pageOf(ctx, project, asked);
    return counted(page.show(toRoleType), totalCount);
  }

  @FieldResolver(() => [EnvironmentType], {
    description:
      'The environments of the project, ordered by position: a few, which are read with the project. Empty if you have no access to the project: see `viewerHasAccess`.',
  })
  environments(
    @Root() { environments }: ProjectType,
    @Args(() => EnvironmentFilterArgs) args: EnvironmentFilterArgs,
  ): EnvironmentType[] {
    return ofSlugs(environments, parse(EnvironmentFilter, args));
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

const ofSlugs = (environments: EnvironmentType[], { slugs }: { slugs?: readonly string[] | null | undefined }) =>
  slugs == null ? environments : environments.filter(({ slug }) => slugs.includes(slug));
