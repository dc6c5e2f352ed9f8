import type { GraphQLResolveInfo } from 'graphql';
import { Args, type ClassType, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { type BatchLoad, batched, batchedOrNull } from '../../kernel/database/batched.js';
import { OrderedPageArgs } from '../../kernel/graphql/list-order.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import { relations, relationTo } from '../../kernel/graphql/relations.js';
import { type CountedConnectionOf, pageOf } from '../../kernel/paging.js';
import { accountIds, accountRelations, IdentityType } from '../identity/identities/public.js';
import { OrganizationType, organizationRelationOf, UserType } from '../identity/organizations/public.js';
import { EnvironmentType } from './environments/environment.resolver.js';
import {
  ProjectMembershipConnection,
  ProjectMembershipType,
  RoleAssignmentType,
} from './members/membership.resolver.js';
import type { ProjectRelations } from './project.relations.js';
import type { ListedProjects, ProjectService } from './project.service.js';
import { ProjectConnection, ProjectType, toProjectConnection, toProjectType } from './project.type.js';
import { ProjectRoleType, pageSelectsRoles, toRoleType } from './roles/role.resolver.js';
import type { RoleService } from './roles/role.service.js';

/** Gives a type with a `projectId`, which may be null, the project itself. */
export const projectRelationOf = (
  type: ClassType<{ readonly projectId: string | null }>,
  { projects }: Pick<ProjectRelations, 'projects'>,
): object =>
  relations(type, {
    project: relationTo(
      ProjectType,
      'The project; null if it was deleted at the same moment.',
      projects,
      ({ projectId }) => projectId,
      toProjectType,
    ),
  });

@Resolver(() => ProjectMembershipType)
class MembershipRolesResolver {
  constructor(
    private readonly relations: ProjectRelations,
    private readonly service: RoleService,
  ) {}

  @FieldResolver(() => [ProjectRoleType], {
    nullable: true,
    description: 'The roles of `roleSlugs`; null with PERMISSION_DENIED if you cannot read roles.',
  })
  async roles(
    @Root() { projectId, roleSlugs }: ProjectMembershipType,
    @Ctx() ctx: Context,
  ): Promise<ProjectRoleType[] | null> {
    const project = await batchedOrNull(ctx, this.relations.projects, projectId);
    return project && (await this.service.rolesNamed(ctx, toProjectType(project), roleSlugs)).map(toRoleType);
  }
}

@Resolver(() => RoleAssignmentType)
class AssignedRoleResolver {
  constructor(
    private readonly relations: ProjectRelations,
    private readonly service: RoleService,
  ) {}

  @FieldResolver(() => ProjectRoleType, {
    nullable: true,
    description: 'The role; null with PERMISSION_DENIED if you cannot read roles.',
  })
  async role(
    @Root() { projectId, roleSlug }: RoleAssignmentType,
    @Ctx() ctx: Context,
  ): Promise<ProjectRoleType | null> {
    const project = await batchedOrNull(ctx, this.relations.projects, projectId);
    const [role] = project === null ? [] : await this.service.rolesNamed(ctx, toProjectType(project), [roleSlug]);
    return role === undefined ? null : toRoleType(role);
  }
}

const MEMBERSHIPS = 'The project memberships, ordered by ID, in projects where you can read members of this kind.';

/** Gives a type of members their project memberships. */
export function membershipRelationOf(
  type: ClassType<{ readonly id: string }>,
  links: Pick<ProjectRelations, 'membershipsOf'>,
): object {
  @Resolver(() => type)
  class MembershipRelationResolver {
    @FieldResolver(() => ProjectMembershipConnection, { description: MEMBERSHIPS })
    async memberships(
      @Root() member: { id: string },
      @Ctx() ctx: Context,
      @Args(() => PageArgs) page: PageArgs,
    ): Promise<CountedConnectionOf<ProjectMembershipType>> {
      const all = (await batched(ctx, links.membershipsOf, member.id)) ?? [];
      return pageOf(all, page, 1, ({ id }) => [id]);
    }
  }
  return new MembershipRelationResolver();
}

@Resolver(() => OrganizationType)
class OrganizationProjectsResolver {
  constructor(private readonly service: ProjectService) {}

  @FieldResolver(() => ProjectConnection, {
    nullable: true,
    description:
      'The projects of the organization that you are a member of, ordered by name; null for an organization other ' +
      'than that of your token. Selecting their roles requires permission to add members to the organization.',
  })
  async projects(
    @Root() { id }: OrganizationType,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
    @Args(() => OrderedPageArgs) page: OrderedPageArgs,
  ): Promise<CountedConnectionOf<ProjectType> | null> {
    if (id !== ctx.organizationId) return null;
    return toProjectConnection(await this.#load(ctx, page, pageSelectsRoles(info)));
  }

  async #load(
    ctx: Context,
    { first, after, orderBy, updatedSince }: Partial<OrderedPageArgs>,
    includeRoles: boolean,
  ): Promise<ListedProjects> {
    const key = JSON.stringify({ first, after, orderBy, updatedSince, includeRoles });
    return (await batched(ctx, this.#pages, key)) as ListedProjects;
  }

  /** Pages by arguments: all fields of a response with the same arguments share one page and its audit record. */
  readonly #pages: BatchLoad<ListedProjects | Error> = async (ctx, keys) =>
    new Map(await Promise.all(keys.map(async (key) => [key, await this.#page(ctx, JSON.parse(key))] as const)));

  /** A page, or why there is none, which does not affect the others. */
  #page(ctx: Context, { updatedSince, ...asked }: { updatedSince?: string | null }): Promise<ListedProjects | Error> {
    const since = updatedSince == null ? null : new Date(updatedSince);
    return this.service.list(ctx, { ...asked, updatedSince: since }).catch((error) => error as Error);
  }
}

/** Resolvers of the relations of projects and their contents, and of relations to them. */
export const projectRelations = (links: ProjectRelations, projects: ProjectService, roles: RoleService): object[] => [
  ...[EnvironmentType, ProjectMembershipType, ProjectRoleType, IdentityType].map((type) =>
    projectRelationOf(type, links),
  ),
  ...[UserType, IdentityType].map((type) => membershipRelationOf(type, links)),
  organizationRelationOf(ProjectType),
  relations(ProjectMembershipType, {
    ...accountRelations<ProjectMembershipType>(
      'The user; null for other members, and when you cannot read users of your organization.',
      'The machine identity; null for other members, and when you cannot read identities of your organization.',
      ({ memberKind, memberId }) => accountIds(memberKind, memberId),
    ),
  }),
  new MembershipRolesResolver(links, roles),
  new AssignedRoleResolver(links, roles),
  new OrganizationProjectsResolver(projects),
];
