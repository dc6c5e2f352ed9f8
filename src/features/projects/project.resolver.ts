import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { authorize, rulesOf } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { OrderedPageArgs } from '../../kernel/graphql/list-order.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { PermissionRuleType, type ShownRule, toShownRules } from '../permissions/public.js';
import type { ProjectKind } from './core/project.rules.js';
import type { MembershipRecord } from './members/membership.records.js';
import type { MembershipService } from './members/membership.service.js';
import { ProjectMembershipType } from './members/membership.type.js';
import type { ProjectService } from './project.service.js';
import {
  CreateProjectInput,
  CreateProjectPayload,
  DeleteProjectInput,
  DeleteProjectPayload,
  ProjectConnection,
  ProjectKindEnum,
  ProjectType,
  toProjectConnection,
  toProjectType,
  UpdateProjectInput,
  UpdateProjectPayload,
} from './project.type.js';
import { pageSelectsRoles } from './roles/role.type.js';

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly memberships: MembershipService,
  ) {}

  @Query(() => ProjectType, { description: 'Returns a project that you are a member of.' })
  async project(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the project.' }) id: string,
  ): Promise<ProjectType> {
    return toProjectType(await this.projects.get(ctx, id));
  }

  @Query(() => ProjectType, {
    description: 'Returns a project that you are a member of, by its slug in your organization.',
  })
  async projectBySlug(
    @Ctx() ctx: Context,
    @Arg('slug', () => String, { description: 'Slug of the project, for example `web-shop`: 1 to 64 characters.' })
    slug: string,
  ): Promise<ProjectType> {
    return toProjectType(await this.projects.getBySlug(ctx, { slug }));
  }

  @Query(() => ProjectConnection, {
    name: 'projects',
    description:
      'Lists the projects that you are a member of. Selecting their roles requires permission to add members to the organization.',
  })
  async listProjects(
    @Ctx() ctx: Context,
    @Args(() => OrderedPageArgs) page: OrderedPageArgs,
    @Info() info: GraphQLResolveInfo,
    @Arg('type', () => ProjectKindEnum, { nullable: true, description: 'Only projects of this type.' })
    type?: ProjectKind | null,
  ): Promise<CountedConnectionOf<ProjectType>> {
    const found = await this.projects.list(ctx, { ...page, type, includeRoles: pageSelectsRoles(info) });
    return toProjectConnection(found);
  }

  @Mutation(() => CreateProjectPayload, { description: 'Creates a project. You become its first admin.' })
  async createProject(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateProjectInput, { description: 'Fields of the new project.' }) input: CreateProjectInput,
  ): Promise<CreateProjectPayload> {
    return { project: toProjectType(await this.projects.create(ctx, input)) };
  }

  @Mutation(() => UpdateProjectPayload, { description: 'Updates the settings of a project.' })
  async updateProject(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateProjectInput, { description: 'The project and its new settings.' })
    input: UpdateProjectInput,
  ): Promise<UpdateProjectPayload> {
    return { project: toProjectType(await this.projects.update(ctx, input)) };
  }

  @Mutation(() => DeleteProjectPayload, {
    description: 'Deletes a project with everything in it. Fails while the project is protected against deletion.',
  })
  async deleteProject(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteProjectInput, { description: 'The project to delete, by ID.' }) input: DeleteProjectInput,
  ): Promise<DeleteProjectPayload> {
    return { project: toProjectType(await this.projects.delete(ctx, input)) };
  }

  @FieldResolver(() => [ProjectMembershipType], {
    nullable: true,
    description:
      'The members of the project, ordered by name, then ID: users, identities and groups, each if you can read them; ' +
      'null with PERMISSION_DENIED if you can read none of them.',
  })
  members(@Ctx() ctx: Context, @Root() project: ProjectType): Promise<MembershipRecord[]> {
    return this.memberships.membersOf(ctx, project.access);
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
  viewerPermissions(@Root() { access }: ProjectType): ShownRule[] {
    return toShownRules(rulesOf(access.ability));
  }
}
