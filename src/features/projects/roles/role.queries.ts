import { sql } from 'kysely';
import { anyOf, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { KeyBounds } from '../../../kernel/paging.js';
import type { ProjectRoleSchema } from './role.entity.js';

const tables = tablesOf<typeof ProjectRoleSchema>();
const COLUMNS = [
  'id',
  'project_id as projectId',
  'slug',
  'name',
  'description',
  'permissions',
  'version',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const;
const roles = tables.selectFrom('project_role').select(COLUMNS);

export const findRole = prepared(({ projectId, id }: { projectId: string; id: string }) =>
  roles.where('project_id', '=', projectId).where('id', '=', id),
);

/** A role as it is stored. */
export type RoleRow = Awaited<ReturnType<typeof findRole>>[number];

export const findRoleBySlug = prepared(({ projectId, slug }: { projectId: string; slug: string }) =>
  roles.where('project_id', '=', projectId).where('slug', '=', slug),
);

/** Roles of whatever projects, in no order. The project decides who may see them. */
export const findRoles = prepared(({ ids }: { ids: readonly string[] }) => roles.where('id', '=', anyOf(ids)));

/** Roles of a project by slug. */
export const listRoles = prepared((page: KeyBounds & { projectId: string }) =>
  roles.where('project_id', '=', page.projectId).$call(pageBy('slug', page)),
);

/** Roles of many projects by slug. */
export const listRolesOfProjects = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  roles.where('project_id', '=', anyOf(projectIds)).orderBy(sql`slug collate "C"`),
);

/** How many custom roles projects have. */
export const countRoles = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  tables
    .selectFrom('project_role')
    .select(['project_id as projectId', sql<number>`count(*)::integer`.as('count')])
    .where('project_id', '=', anyOf(projectIds))
    .groupBy('project_id'),
);

/** Stored rules of the roles of a project with these slugs. */
export const findStoredRules = prepared(({ projectId, slugs }: { projectId: string; slugs: readonly string[] }) =>
  tables
    .selectFrom('project_role')
    .select(['slug', 'permissions'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`slug = any(${slugs}::text[])`),
);
