import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Number of rotations that use a rule. */
export const countUses = sqlStatement({
  text: `
    select count(*)::integer as count from secret_rotation where organization_id = :organizationId and password_rule = :name`,
  params: { organizationId: t.uuid, name: t.text },
  row: { count: t.integer },
});
