// Slices above store rules, each in a table of its own: the texts are the same for all of them.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { NO_ID } from '../../../kernel/ids.js';

/** Locks the rules of a table that have a condition on a field, but those of one row. */
const lockIn = (table: string, owner: 'organization_id' | 'project_id') =>
  sqlStatement({
    text: `select id, permissions from ${table}
      where ${owner} = :ownerId and id <> coalesce(:except, '${NO_ID}'::uuid)
        and permissions::text like '%"' || :field || '":%' order by id for update`,
    params: { ownerId: t.uuid, except: t.nullable(t.uuid), field: t.text },
    row: { id: t.uuid, permissions: t.json },
  });

/** Replaces rules. @param more what else changes with them */
const replaceIn = (table: string, more: string) =>
  sqlStatement({
    text: `update ${table} r set permissions = renamed.permissions::jsonb, updated_at = now()${more}
      from unnest(:ids::uuid[], :permissions::text[]) renamed(id, permissions) where r.id = renamed.id`,
    params: { ids: t.array(t.uuid), permissions: t.array(t.text) },
    row: {},
  });

const NEXT_VERSION = ', version = r.version + 1';

export const lockRules = {
  organizationRoles: lockIn('organization_role', 'organization_id'),
  projectRoles: lockIn('project_role', 'project_id'),
  privileges: lockIn('additional_privilege', 'project_id'),
} as const;

export const replaceRules = {
  organizationRoles: replaceIn('organization_role', NEXT_VERSION),
  projectRoles: replaceIn('project_role', NEXT_VERSION),
  privileges: replaceIn('additional_privilege', ''),
} as const;
