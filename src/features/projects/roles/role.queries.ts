import { sql } from 'kysely';
import type { Rule } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { batchOfCounts, batchOfOwned } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { anyOf, columnsOf, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { KeyBounds } from '../../../kernel/paging.js';
import { readStoredRules } from '../../identity/permissions/public.js';
import type { ProjectMembershipSchema } from '../core/membership.entity.js';
import { ProjectRole, ProjectRoleSchema } from './role.entity.js';
import type { Role } from './role.rules.js';

const tables = tablesOf<typeof ProjectRoleSchema | typeof ProjectMembershipSchema>();
const roles = tables
  .selectFrom('project_role')
  .select(columnsOf(ProjectRoleSchema, 'organizationId', 'permissionsDigest'));

/** Roles of a project by slug. */
export const listRoles = prepared((page: KeyBounds & { projectId: string }) =>
  roles.where('project_id', '=', page.projectId).$call(pageBy('slug', page)),
);

/** A role as it is stored. */
type RoleRow = Awaited<ReturnType<typeof listRoles>>[number];

/** Roles of many projects by slug. */
export const listRolesOfProjects = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  roles.where('project_id', '=', anyOf(projectIds)).orderBy(sql`slug collate "C"`),
);

/** The rules of all custom roles of a project, assigned or not, and those of its privileges, which are of a slice that imports this one. */
export const listRulesOfProject = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('project_role')
    .select('permissions')
    .where('project_id', '=', projectId)
    .unionAll(
      tables
        .selectFrom(sql<{ project_id: string; permissions: unknown }>`additional_privilege`.as('v'))
        .select('v.permissions')
        .where('v.project_id', '=', projectId),
    ),
);

/** Updates the slug of a role in the memberships that name it. */
export const renameInMemberships = prepared(
  ({ projectId, from, to }: { projectId: string; from: string; to: string }) =>
    tables
      .updateTable('project_membership')
      .set({
        roles: sql`array_replace(roles, ${from}, ${to})`,
        role_terms: sql`case when role_terms ? ${from}
        then role_terms - ${from}::text || jsonb_build_object(${to}::text, role_terms -> ${from}) else role_terms end`,
        updated_at: sql`now()`,
      })
      .where('project_id', '=', projectId)
      .where(sql<boolean>`${from} = any(roles)`),
);

export const toRole = ({ permissions, ...row }: RoleRow | ProjectRole): Role => ({
  ...row,
  rules: readStoredRules(permissions),
});

/** Roles of whatever projects, in no order. The project decides who may see them. */
export const rolesByIds = async (ctx: Context, ids: readonly string[]): Promise<Role[]> =>
  (await emOf(ctx).find(ProjectRole, { id: { $in: ids } })).map(toRole);

/** Roles of many projects in one statement, each list by slug. For `batched`. */
export const rolesOfProjects = batchOfOwned(
  async (ctx, projectIds) => (await listRolesOfProjects(ctx, { projectIds })).map(toRole),
  ({ projectId }) => projectId,
);

/** How many custom roles projects have. For `batched`. */
export const countsOfRoles = batchOfCounts(ProjectRole, 'projectId');

/** The rules of the roles of a project with these slugs, by slug. */
export async function rulesBySlug(
  ctx: Context,
  projectId: string,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, readonly Rule[]>> {
  const named = { projectId, slug: { $in: [...slugs] } };
  const rows = await emOf(ctx).find(ProjectRole, named, { fields: ['slug', 'permissions'] });
  return new Map(rows.map(({ slug, permissions }) => [slug, readStoredRules(permissions)]));
}
