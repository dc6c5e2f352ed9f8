import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { NO_ID } from '../../../kernel/ids.js';

/** Adds a role. `permissions` are JSON. */
export const insertRole = sqlStatement({
  text: `insert into project_role (id, organization_id, project_id, slug, name, description, permissions)
    values (:id, :organizationId, :projectId, :slug, :name, :description, :permissions::text::jsonb)
    returning id, project_id as "projectId", slug, name, description, permissions, version,
      created_at as "createdAt", updated_at as "updatedAt"`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    slug: t.text,
    name: t.text,
    description: t.text,
    permissions: t.text,
  },
  row: {
    id: t.uuid,
    projectId: t.uuid,
    slug: t.text,
    name: t.text,
    description: t.text,
    permissions: t.json,
    version: t.integer,
    createdAt: t.time,
    updatedAt: t.time,
  },
});

/** The rules of all custom roles of a project, assigned or not, and those of its privileges. */
export const listRulesOfProject = sqlStatement({
  text: `select permissions from project_role where project_id = :projectId
     union all select permissions from additional_privilege where project_id = :projectId`,
  params: { projectId: t.uuid },
  row: { permissions: t.json },
});

/** How many members have a role. */
export const countHolders = sqlStatement({
  text: `select count(*)::integer as count from project_membership
    where project_id = :projectId and :slug = any(roles)`,
  params: { projectId: t.uuid, slug: t.text },
  row: { count: t.integer },
});

/** Updates the slug of a role in the memberships that name it. */
export const renameInMemberships = sqlStatement({
  text: `update project_membership set roles = array_replace(roles, :from, :to), updated_at = now(),
       role_terms = case when role_terms ? :from
         then role_terms - :from::text || jsonb_build_object(:to::text, role_terms -> :from) else role_terms end
     where project_id = :projectId and :from = any(roles)`,
  params: { projectId: t.uuid, from: t.text, to: t.text },
  row: {},
});

/** Locks the rules of a table that have a condition on a field, but those of one row. */
const lockRulesIn = (table: string) =>
  sqlStatement({
    text: `select id, permissions from ${table}
      where project_id = :projectId and id <> coalesce(:except, '${NO_ID}'::uuid)
        and permissions::text like '%"' || :field || '":%' order by id for update`,
    params: { projectId: t.uuid, except: t.nullable(t.uuid), field: t.text },
    row: { id: t.uuid, permissions: t.json },
  });

/** Replaces rules. @param more what else changes with them */
const replaceRulesIn = (table: string, more: string) =>
  sqlStatement({
    text: `update ${table} r set permissions = renamed.permissions::jsonb, updated_at = now()${more}
      from unnest(:ids::uuid[], :permissions::text[]) renamed(id, permissions) where r.id = renamed.id`,
    params: { ids: t.array(t.uuid), permissions: t.array(t.text) },
    row: {},
  });

export const lockRulesOfRoles = lockRulesIn('project_role');
export const lockRulesOfPrivileges = lockRulesIn('additional_privilege');
export const replaceRulesOfRoles = replaceRulesIn('project_role', ', version = r.version + 1');
export const replaceRulesOfPrivileges = replaceRulesIn('additional_privilege', '');
