// Privileges are of a slice that stands on this one; arrays and objects of roles are rewritten in place.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** The rules of all custom roles of a project, assigned or not, and those of its privileges. */
export const listRulesOfProject = sqlStatement({
  text: `select permissions from project_role where project_id = :projectId
     union all select permissions from additional_privilege where project_id = :projectId`,
  params: { projectId: t.uuid },
  row: { permissions: t.json },
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
