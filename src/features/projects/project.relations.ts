import { type Action, authorize, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { type BatchLoad, type Found, mapFound } from '../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../kernel/graphql/node.js';
import { isBuiltInForm } from '../identity/permissions/public.js';
import { listByIds } from './core/find-projects.js';
import type { ProjectReader } from './core/project.reader.js';
import { findEnvironments } from './core/project.sql.js';
import { listAccess, type ProjectAccess } from './core/project-access.js';
import { type EnvironmentType, toEnvironmentType } from './environments/environment.resolver.js';
import type { ReadEnvironment } from './environments/environment.service.js';
import { fieldsOf, subjectOf } from './members/membership.rules.js';
import { type MembershipRecord, membershipsByIds, membershipsOfMembers } from './members/memberships.js';
import type { ProjectService, ReadProject } from './project.service.js';
import { type ProjectType, toProjectType } from './project.type.js';
import { rolesByIds } from './roles/role.queries.js';
import { type ProjectRoleType, toRoleType } from './roles/role.resolver.js';
import { builtInRolesOf, isBuiltInId, type Role } from './roles/role.rules.js';

/**
 * Projects, environments, memberships and roles that responses refer to by ID, each kind in one statement for a whole
 * response. Items that the root field of that kind would deny or not find are left out.
 */
export class ProjectRelations {
  constructor(
    private readonly reader: ProjectReader,
    private readonly service: ProjectService,
  ) {}

  /** Whole projects by ID. */
  readonly projects: BatchLoad<ReadProject> = async (ctx, ids) => {
    const found = await this.service.listByIds(ctx, ids);
    return new Map(found.map((project) => [project.access.projectId, project]));
  };

  /** Environments by ID. */
  readonly environments: BatchLoad<ReadEnvironment> = async (ctx, ids) => {
    const rows = await findEnvironments(ctx, { ids });
    return this.readable(ctx, rows, (environment, access) => {
      authorize(access, 'environments:read');
      return { environment, access };
    });
  };

  /** Memberships by ID. */
  readonly memberships: BatchLoad<MembershipRecord> = async (ctx, ids) =>
    this.readable(ctx, await membershipsByIds(ctx, ids), readableMembership);

  /** Roles by ID, including built-in ones. */
  readonly roles: BatchLoad<Role> = async (ctx, ids) => {
    const { own = [], builtIn = [] } = Object.groupBy(ids, (id) => (isBuiltInForm(id) ? 'builtIn' : 'own'));
    const rows = own.length === 0 ? [] : await rolesByIds(ctx, own);
    rows.push(...(await builtInRolesByIds(ctx, builtIn)));
    return this.readable(ctx, rows, readableRole);
  };

  /**
   * Memberships of users, identities and groups by their IDs, in the projects where the caller may read members of
   * their kind.
   */
  readonly membershipsOf: BatchLoad<readonly MembershipRecord[]> = async (ctx, memberIds) => {
    const found = await this.readable(ctx, await membershipsOfMembers(ctx, memberIds), readableMembership);
    const readable = [...found.values()].flatMap((row) => (row instanceof Error ? [] : [row]));
    return Map.groupBy(readable, ({ memberId }) => memberId);
  };

  /**
   * Items of projects as the caller may see them, by ID; an error for each item that the caller is denied. Items of
   * projects that the caller cannot see are left out.
   *
   * @param view the visible part of a row. @throws PERMISSION_DENIED, by the caller's rights in the project
   */
  async readable<R extends { readonly id: string; readonly projectId: string }, V>(
    ctx: Context,
    rows: readonly R[],
    view: (row: R, access: ProjectAccess) => V,
  ): Promise<Found<V>> {
    const ids = [...new Set(rows.map(({ projectId }) => projectId))];
    const projects = new Map(await Promise.all(ids.map(async (id) => [id, await this.reader.find(ctx, id)] as const)));
    return new Map(
      rows.flatMap((row) => {
        const access = projects.get(row.projectId);
        return access === undefined ? [] : [[row.id, orDenial(() => view(row, access))] as const];
      }),
    );
  }
}

function readableMembership(membership: MembershipRecord, access: ProjectAccess): MembershipRecord {
  const { memberKind } = membership;
  authorize(access, `${subjectOf(memberKind)}:read`, fieldsOf(memberKind, membership));
  return membership;
}

function readableRole(role: Role, access: ProjectAccess): Role {
  authorize(access, 'role:read');
  return role;
}

/**
 * Built-in roles of the caller's projects by ID. Their IDs are hashes, which are computed again for each of these
 * projects.
 */
async function builtInRolesByIds(ctx: Context, ids: readonly string[]): Promise<Role[]> {
  if (ids.length === 0) return [];
  const projects = (await listAccess(ctx)).filter(({ projectId }) => ids.some((id) => isBuiltInId(projectId, id)));
  if (projects.length === 0) return [];
  const records = await listByIds(
    ctx,
    projects.map(({ projectId }) => projectId),
  );
  return records
    .flatMap(({ access, createdAt, updatedAt }) => builtInRolesOf({ id: access.projectId, createdAt, updatedAt }))
    .filter(({ id }) => ids.includes(id));
}

/** The visible part, or why there is none. */
function orDenial<V>(view: () => V): V | PermissionDenied {
  try {
    return view();
  } catch (error) {
    if (error instanceof PermissionDenied) return error;
    throw error;
  }
}

const reachOf = (projectId: string): string => `n.organization_id = $2 and exists (
  select from project_member_now m where m.project_id = ${projectId} and m.member_id = $4)`;

/** The scope of nodes in projects: the projects that the caller is a member of. */
export const REACH_OF_MEMBER = reachOf('n.project_id');

/** A row of a project. */
interface InProject {
  readonly id: string;
  readonly projectId: string;
}

/** How rows of projects are found by ID alone; callers who may perform `action` in the project see them. */
interface KindInProject<Row extends InProject> extends Pick<NodeKind<InProject>, 'type' | 'table' | 'record'> {
  readonly action: Action;
  /** SQL condition on `n`, where the table also has rows of other kinds. */
  readonly only?: string;
  readonly find: (ctx: Context, params: { readonly ids: readonly string[] }) => Promise<Row[]>;
}

/** Declares a kind of nodes whose rows belong to projects. */
export const nodeInProject = <Row extends InProject>(
  relations: ProjectRelations,
  { action, find, only, ...kind }: KindInProject<Row>,
): NodeKind =>
  nodeKind<InProject>({
    ...kind,
    reach: only === undefined ? REACH_OF_MEMBER : `${only} and ${REACH_OF_MEMBER}`,
    load: async (ctx, ids) =>
      relations.readable(ctx, await find(ctx, { ids }), (row, access) => {
        authorize(access, action);
        return row;
      }),
  });

/** The types of projects that are found by ID alone. */
export function projectNodes(relations: ProjectRelations): NodeKind[] {
  const projects: BatchLoad<ProjectType> = async (ctx, ids) =>
    mapFound(await relations.projects(ctx, ids), (found) => toProjectType(found));
  const environments: BatchLoad<EnvironmentType> = async (ctx, ids) =>
    mapFound(await relations.environments(ctx, ids), ({ environment, access }) =>
      toEnvironmentType(environment, access),
    );
  const roles: BatchLoad<ProjectRoleType> = async (ctx, ids) => mapFound(await relations.roles(ctx, ids), toRoleType);
  return [
    nodeKind({
      type: 'Project',
      table: 'project',
      reach: reachOf('n.id'),
      naturalKey: { field: 'slug', column: 'slug' },
      load: projects,
      record: ({ id }) => ({ action: 'project:get', projectId: id }),
    }),
    nodeKind({
      type: 'Environment',
      table: 'environment',
      reach: REACH_OF_MEMBER,
      load: environments,
      record: ({ id, projectId }) => ({ action: 'environment:get', projectId, facts: { environmentId: id } }),
    }),
    nodeKind({
      type: 'ProjectRole',
      table: 'project_role',
      reach: REACH_OF_MEMBER,
      isDerived: isBuiltInForm,
      load: roles,
      record: ({ id, projectId }) => ({ action: 'project-role:get', projectId, facts: { roleId: id } }),
    }),
    nodeKind({
      type: 'ProjectMembership',
      table: 'project_membership',
      reach: REACH_OF_MEMBER,
      load: relations.memberships,
      record: ({ projectId, memberKind, memberId }) => ({
        action: 'project-membership:get',
        projectId,
        facts: { memberKind, memberId },
      }),
    }),
  ];
}
