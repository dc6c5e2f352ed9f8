import type { Access, Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { KeyBounds } from '../../../kernel/paging.js';
import { PROJECT_VOCABULARY, type Rename, readStoredRules, replacedRules } from '../../permissions/public.js';
import type { Role } from './role.rules.js';

type RoleRow = Omit<Role, 'rules'> & { readonly permissions: unknown };

const COLUMNS = `id, project_id as "projectId", slug, name, description, permissions, version,
  created_at as "createdAt", updated_at as "updatedAt"`;

const FIND = {
  id: `select ${COLUMNS} from project_role where project_id = $1 and id = $2`,
  slug: `select ${COLUMNS} from project_role where project_id = $1 and slug = $2`,
} as const;

/** One role of a project; undefined when there is none. */
export async function findRole(
  ctx: Context,
  projectId: string,
  by: { readonly column: keyof typeof FIND; readonly value: string },
): Promise<Role | undefined> {
  const [row] = await query<RoleRow>(ctx, FIND[by.column], [projectId, by.value]);
  return row && toRecord(row);
}

/** Roles of a project by slug. */
export async function listRoles(ctx: Context, projectId: string, { after, limit }: KeyBounds): Promise<Role[]> {
  const rows = await query<RoleRow>(
    ctx,
    `select ${COLUMNS} from project_role where project_id = $1 and ($2::text is null or slug collate "C" > $2)
     order by slug collate "C" limit $3`,
    [projectId, after, limit],
  );
  return rows.map(toRecord);
}

/** How many custom roles projects have. For `batched`. */
export async function countsOfRoles(ctx: Context, projectIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ projectId: string; count: number }>(
    ctx,
    `select project_id as "projectId", count(*)::integer as count from project_role
     where project_id = any($1::uuid[]) group by 1`,
    [[...projectIds]],
  );
  return new Map(rows.map(({ projectId, count }) => [projectId, count]));
}

/** Roles by ID, in no order. The project decides who may see them. */
export async function rolesByIds(ctx: Context, ids: readonly string[]): Promise<Role[]> {
  const rows = await query<RoleRow>(ctx, `select ${COLUMNS} from project_role where id = any($1::uuid[])`, [ids]);
  return rows.map(toRecord);
}

/** Roles of many projects in one statement, each list by slug. For `batched`. */
export async function rolesOfProjects(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, Role[]>> {
  const rows = await query<RoleRow>(
    ctx,
    `select ${COLUMNS} from project_role where project_id = any($1::uuid[]) order by slug collate "C"`,
    [[...projectIds]],
  );
  return Map.groupBy(rows.map(toRecord), ({ projectId }) => projectId);
}

/** The rules of the roles of a project with these slugs, by slug. */
export async function rulesBySlug(
  ctx: Context,
  projectId: string,
  slugs: readonly string[],
): Promise<ReadonlyMap<string, readonly Rule[]>> {
  const rows = await query<{ slug: string; permissions: unknown }>(
    ctx,
    'select slug, permissions from project_role where project_id = $1 and slug = any($2::text[])',
    [projectId, [...slugs]],
  );
  return new Map(rows.map(({ slug, permissions }) => [slug, readStoredRules(permissions)]));
}

/** The rules of all custom roles of a project, assigned or not, and those of its privileges. */
export async function rulesOfProject(tx: Transaction, projectId: string): Promise<readonly Rule[]> {
  const rows = await query<{ permissions: unknown }>(
    tx,
    `select permissions from project_role where project_id = $1
     union all select permissions from additional_privilege where project_id = $1`,
    [projectId],
  );
  return rows.flatMap(({ permissions }) => readStoredRules(permissions));
}

/** The fields of a role that the database does not compute. */
export type RoleFields = Pick<Role, 'slug' | 'name' | 'description' | 'rules'>;

const written = ({ slug, name, description, rules }: RoleFields): string[] => [
  slug,
  name,
  description,
  JSON.stringify(rules),
];

/** Adds a role. */
export async function insertRole(
  tx: Transaction,
  { id, organizationId, projectId }: { id: string; organizationId: string; projectId: string },
  fields: RoleFields,
): Promise<Role> {
  const [row] = await query<RoleRow>(
    tx,
    `insert into project_role (id, organization_id, project_id, slug, name, description, permissions)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb) returning ${COLUMNS}`,
    [id, organizationId, projectId, ...written(fields)],
  );
  return toRecord(row as RoleRow);
}

/** Updates a role, under its next version. */
export async function updateRole(tx: Transaction, id: string, fields: RoleFields): Promise<void> {
  await query(
    tx,
    `update project_role set slug = $2, name = $3, description = $4, permissions = $5::jsonb, version = version + 1, updated_at = now()
     where id = $1`,
    [id, ...written(fields)],
  );
}

/** Deletes a role. */
export const deleteRole = (tx: Transaction, id: string): Promise<unknown> =>
  query(tx, 'delete from project_role where id = $1', [id]);

/** Updates the slug of a role in the memberships that name it. */
export const renameInMemberships = (
  tx: Transaction,
  projectId: string,
  { from, to }: { from: string; to: string },
): Promise<unknown> =>
  query(
    tx,
    `update project_membership set roles = array_replace(roles, $2, $3), updated_at = now(),
       role_terms = case when role_terms ? $2 then role_terms - $2::text || jsonb_build_object($3::text, role_terms -> $2) else role_terms end
     where project_id = $1 and $2 = any(roles)`,
    [projectId, from, to],
  );

/** Where rules of a project are stored, and what else changes with them. */
const RULES_IN = { project_role: ', version = r.version + 1', additional_privilege: '' } as const;

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
  for (const [table, more] of Object.entries(RULES_IN)) {
    const stored = await query<{ id: string; permissions: unknown }>(
      tx,
      `select id, permissions from ${table} where project_id = $1 and id <> coalesce($2, '${NO_ID}'::uuid)
         and permissions::text like '%"' || $3 || '":%' order by id for update`,
      [project.projectId, except, rename.field],
    );
    const { ids, permissions } = await replacedRules(project, stored, rename, PROJECT_VOCABULARY);
    if (ids.length === 0) continue;
    await query(
      tx,
      `update ${table} r set permissions = renamed.permissions::jsonb, updated_at = now()${more}
       from unnest($1::uuid[], $2::text[]) renamed(id, permissions) where r.id = renamed.id`,
      [[...ids], [...permissions]],
    );
    changed.push(...ids);
  }
  return changed;
}

/** How many members have a role. */
export async function countHolders(tx: Transaction, projectId: string, slug: string): Promise<number> {
  const [counted] = await query<{ count: number }>(
    tx,
    'select count(*)::integer as count from project_membership where project_id = $1 and $2 = any(roles)',
    [projectId, slug],
  );
  return counted?.count ?? 0;
}

const toRecord = ({ permissions, ...row }: RoleRow): Role => ({
  ...row,
  rules: readStoredRules(permissions),
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
