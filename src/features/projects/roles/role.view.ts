import type { Rule } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { batchOfCounts, batchOfOwned } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { readStoredRules } from '../../identity/permissions/public.js';
import { ProjectRole } from './role.entity.js';
import { listRolesOfProjects, type RoleRow } from './role.queries.js';
import type { Role } from './role.rules.js';

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
