import { sql } from 'kysely';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import { PasswordRuleSchema } from './password-rule.entity.js';

const tables = tablesOf<typeof PasswordRuleSchema>();
const rules = tables.selectFrom('password_rule').select(columnsOf(PasswordRuleSchema));

export const findRules = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  rules.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** A password rule as read from the database. */
export type PasswordRuleRow = Awaited<ReturnType<typeof findRules>>[number];

/** All rules of an organization, by name. */
export const listRules = prepared(({ organizationId }: { organizationId: string }) =>
  rules.where('organization_id', '=', organizationId).orderBy(sql`name collate "C"`),
);

/** Number of rotations that use a rule. */
export const countUses = prepared(({ organizationId, name }: { organizationId: string; name: string }) =>
  tables.selectNoFrom(
    sql<number>`(select count(*)::integer from secret_rotation
      where organization_id = ${organizationId}::uuid and password_rule = ${name}::text)`.as('count'),
  ),
);
