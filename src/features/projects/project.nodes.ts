import { type Action, authorize } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { type BatchLoad, mapFound } from '../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../kernel/graphql/node.js';
import { isBuiltInForm } from '../identity/permissions/public.js';
import { type EnvironmentType, toEnvironmentType } from './environments/environment.type.js';
import type { ProjectRelations } from './project.relations.js';
import { type ProjectType, toProjectType } from './project.type.js';
import { type ProjectRoleType, toRoleType } from './roles/role.type.js';

const reachOf = (projectId: string): string => `n.organization_id = $2 and exists (
  select from project_member_now m where m.project_id = ${projectId} and m.member_id = $4)`;

/** The scope of nodes in projects: the projects that the caller is a member of. */
export const IN_OWN_PROJECT = reachOf('n.project_id');

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
    reach: only === undefined ? IN_OWN_PROJECT : `${only} and ${IN_OWN_PROJECT}`,
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
      load: projects,
      record: ({ id }) => ({ action: 'project:get', projectId: id }),
    }),
    nodeKind({
      type: 'Environment',
      table: 'environment',
      reach: IN_OWN_PROJECT,
      load: environments,
      record: ({ id, projectId }) => ({ action: 'environment:get', projectId, facts: { environmentId: id } }),
    }),
    nodeKind({
      type: 'ProjectRole',
      table: 'project_role',
      reach: IN_OWN_PROJECT,
      isDerived: isBuiltInForm,
      load: roles,
      record: ({ id, projectId }) => ({ action: 'project-role:get', projectId, facts: { roleId: id } }),
    }),
    nodeKind({
      type: 'ProjectMembership',
      table: 'project_membership',
      reach: IN_OWN_PROJECT,
      load: relations.memberships,
      record: ({ projectId, memberKind, memberId }) => ({
        action: 'project-membership:get',
        projectId,
        facts: { memberKind, memberId },
      }),
    }),
  ];
}
