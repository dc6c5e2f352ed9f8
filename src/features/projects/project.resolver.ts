import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { authorize, rulesOf } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { OrderedPageArgs } from '../../kernel/graphql/list-order.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { PermissionRuleType, type ShownRule, toShownRules } from '../permissions/public.js';
import type { MembershipRecord } from './members/membership.records.js';
import { ProjectMembershipType } from './members/membership.type.js';
import type { MembershipService } from './membership.service.js';
import type { ProjectKind } from './project.rules.js';
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
import { pageSelectsRoles } from './role.type.js';

@Resolver(() => ProjectType)
export class ProjectResolver {
  constructor(
    private readonly projects: ProjectService,
    private readonly memberships: MembershipService,
  ) {}

  @Query(() => ProjectType, { description: 'A project that you are a member of.' })
  async project(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the project.' }) id: string,
  ): Promise<ProjectType> {
    return toProjectType(await this.projects.get(ctx, id));
  }

  @Query(() => ProjectType, { description: 'A project that you are a member of, by its slug in your organization.' })
  async projectBySlug(
    @Ctx() ctx: Context,
    @Arg('slug', () => String, { description: 'Slug of the project, 1 to 64 characters.' }) slug: string,
  ): Promise<ProjectType> {
    return toProjectType(await this.projects.getBySlug(ctx, { slug }));
  }

  @Query(() => ProjectConnection, {
    name: 'projects',
    description:
      'The projects that you are a member of. Asking for their roles needs the right to add members to the organization.',
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

  @Mutation(() => CreateProjectPayload, { description: 'Makes a project. You are its first admin.' })
  async createProject(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateProjectInput, { description: 'The new project.' }) input: CreateProjectInput,
  ): Promise<CreateProjectPayload> {
    return { project: toProjectType(await this.projects.create(ctx, input)) };
  }

  @Mutation(() => UpdateProjectPayload, { description: 'Changes settings of a project.' })
  async updateProject(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateProjectInput, { description: 'What changes.' }) input: UpdateProjectInput,
  ): Promise<UpdateProjectPayload> {
    return { project: toProjectType(await this.projects.update(ctx, input)) };
  }

  @Mutation(() => DeleteProjectPayload, {
    description: 'Deletes a project with everything in it, unless it is protected.',
  })
  async deleteProject(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteProjectInput, { description: 'Which one.' }) input: DeleteProjectInput,
  ): Promise<DeleteProjectPayload> {
    return { project: toProjectType(await this.projects.delete(ctx, input)) };
  }

  @FieldResolver(() => [ProjectMembershipType], {
    nullable: true,
    description:
      'Its members by name, then id: users if you may read members, identities if you may read identities, groups if you may read groups; null with PERMISSION_DENIED if none of them.',
  })
  members(@Ctx() ctx: Context, @Root() project: ProjectType): Promise<MembershipRecord[]> {
    return this.memberships.membersOf(ctx, project.access);
  }

  @FieldResolver(() => [String], {
    nullable: true,
    description:
      'Values that leak detection passes over; null when there are none. Null with PERMISSION_DENIED if you may not read settings.',
  })
  secretDetectionIgnoreValues(@Root() { access, secretDetectionIgnoreValues }: ProjectType): readonly string[] | null {
    authorize(access, 'settings:read');
    return secretDetectionIgnoreValues;
  }

  @FieldResolver(() => [PermissionRuleType], {
    description:
      'All rules that hold for you in it, with your attributes filled in, in their order: later ones win. `effectivePermissions` says where each comes from.',
  })
  viewerPermissions(@Root() { access }: ProjectType): ShownRule[] {
    return toShownRules(rulesOf(access.ability));
  }
}
