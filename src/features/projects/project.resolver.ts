import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { authorize, rulesOf } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { OrderedPageArgs } from '../../kernel/graphql/list-order.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import { orderedPageOf } from '../../kernel/list-order.js';
import { type CountedConnectionOf, counted, pageOf, positionKey } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import { PermissionRuleType, toShownRules } from '../identity/permissions/public.js';
import { BySlug, CreateProject, OneProject } from './core/project.rules.js';
import {
  EnvironmentConnection,
  EnvironmentFilterArgs,
  EnvironmentPageArgs,
  EnvironmentType,
} from './environments/environment.resolver.js';
import { EnvironmentFilter, EnvironmentPage } from './environments/environment.rules.js';
import { ProjectMembershipConnection, ProjectMembershipType } from './members/membership.resolver.js';
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
import {
  ProjectRoleConnection,
  ProjectRoleType,
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

  @FieldResolver(() => ProjectMembershipConnection, {
    nullable: true,
    description:
      'The members of the project with pagination, ordered by name, then ID: users, identities and groups, each if ' +
      'you can read them; null with PERMISSION_DENIED if you can read none of them.',
  })
  memberConnection(
    @Root() project: ProjectType,
    @Ctx() ctx: Context,
    @Args(() => OrderedPageArgs) page: OrderedPageArgs,
  ): Promise<CountedConnectionOf<ProjectMembershipType>> {
    return this.memberships.membersOf(ctx, project.access, page);
  }

  @FieldResolver(() => [ProjectRoleType], {
    nullable: true,
    description:
      'The roles of the project: its own, ordered by slug, then the built-in ones, admin first; null with PERMISSION_DENIED if you cannot read roles.',
  })
  async roles(@Root() project: ProjectType, @Ctx() ctx: Context): Promise<ProjectRoleType[]> {
    return (await this.roleService.rolesOf(ctx, project)).map(toRoleType);
  }

  @FieldResolver(() => ProjectRoleConnection, { nullable: true, description: 'The same as `roles`, with pagination.' })
  async roleConnection(
    @Root() project: ProjectType,
    @Ctx() ctx: Context,
    @Args(() => RolePageArgs) args: RolePageArgs,
  ): Promise<CountedConnectionOf<ProjectRoleType>> {
    const { page, totalCount } = await this.roleService.pageOf(ctx, project, args);
    return counted(page.show(toRoleType), totalCount);
  }

  @FieldResolver(() => [EnvironmentType], { description: 'The environments of the project, ordered by position.' })
  environments(
    @Root() { environments }: ProjectType,
    @Args(() => EnvironmentFilterArgs) args: EnvironmentFilterArgs,
  ): EnvironmentType[] {
    return ofSlugs(environments, parse(EnvironmentFilter, args));
  }

  @FieldResolver(() => EnvironmentConnection, { description: 'The same as `environments`, with pagination.' })
  environmentConnection(
    @Root() { environments }: ProjectType,
    @Args(() => EnvironmentPageArgs) args: EnvironmentPageArgs,
  ): CountedConnectionOf<EnvironmentType> {
    const { slugs, ...page } = parse(EnvironmentPage, args);
    const found = ofSlugs(environments, { slugs });
    return counted(
      orderedPageOf(found, page, {
        orderable: (environment) => environment,
        own: (rows, request) => pageOf(rows, request, 1, positionKey),
      }),
      async () => found.length,
    );
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
