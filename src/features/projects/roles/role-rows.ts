import type { Access, Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batchOfOwned } from '../../../kernel/database/batched.js';
import { PROJECT_VOCABULARY, type Rename, readStoredRules, replacedRules } from '../../permissions/public.js';
import { countRoles, findRoles, findStoredRules, listRolesOfProjects, type RoleRow } from './role.queries.js';
import type { Role } from './role.rules.js';
import { lockRulesOfPrivileges, lockRulesOfRoles, replaceRulesOfPrivileges, replaceRulesOfRoles } from './role.sql.js';

export const toRole = ({ permissions, ...row }: RoleRow): Role => ({ ...row, rules: readStoredRules(permissions) });

/** Roles of whatever projects, in no order. The project decides who may see them. */
export const rolesByIds = async (ctx: Context, ids: readonly string[]): Promise<Role[]> =>
  (await findRoles(ctx, { ids })).map(toRole);

/** Roles of many projects in one statement, each list by slug. For `batched`. */
export const rolesOfProjects = batchOfOwned(
  async (ctx, projectIds) => (await listRolesOfProjects(ctx, { projectIds })).map(toRole),
  ({ projectId }) => projectId,
);

/** How many custom roles projects have. For `batched`. */
export const countsOfRoles: BatchLoad<number> = async (ctx, projectIds) =>
  new Map((await countRoles(ctx, { projectIds })).map(({ projectId, count }) => [projectId, count]));

/** The rules of the roles of a project with these slugs, by slug. */
export async function rulesBySlug(
  ctx: Context,
  projectId: string,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, readonly Rule[]>> {
  const rows = await findStoredRules(ctx, { projectId, slugs });
  return new Map(rows.map(({ slug, permissions }) => [slug, readStoredRules(permissions)]));
}

/** Where rules of a project are stored. */
const STORED = [
  { lock: lockRulesOfRoles, replace: replaceRulesOfRoles },
  { lock: lockRulesOfPrivileges, replace: replaceRulesOfPrivileges },
] as const;

/**
 * Updates the slug of a role or an environment in the rules of roles and privileges that name it. The project is
 * locked, so that none of them changes concurrently.
 *
 * @param except ID of a role whose rules stay
 * @returns IDs of the roles and privileges that changed
 * @throws PERMISSION_DENIED, PERMISSION_BOUNDARY where a rule would still match differently
 */
export async function renameInRules(
  tx: Transaction,
  project: Access & { readonly projectId: string },
  rename: Rename,
  except: string | null,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { lock, replace } of STORED) {
    const stored = await lock(tx, { projectId: project.projectId, except, field: rename.field });
    const { ids, permissions } = await replacedRules(project, stored, rename, PROJECT_VOCABULARY);
    if (ids.length === 0) continue;
    await replace(tx, { ids, permissions });
    changed.push(...ids);
  }
  return changed;
}
