import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { PasswordRuleSchema } from './password-rule.entity.js';
import type { PasswordRequirements } from './requirements.rules.js';

const rules = tablesOf<typeof PasswordRuleSchema>()
  .selectFrom('password_rule')
  .select([
    'id',
    'organization_id as organizationId',
    'name',
    'description',
    sql<PasswordRequirements>`requirements`.as('requirements'),
    'version',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

export const findRules = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  rules.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** A password rule as read from the database. */
export type PasswordRuleRow = Awaited<ReturnType<typeof findRules>>[number];

/** All rules of an organization, by name. */
export const listRules = prepared(({ organizationId }: { organizationId: string }) =>
  rules.where('organization_id', '=', organizationId).orderBy(sql`name collate "C"`),
);

export const findRuleByName = prepared(({ organizationId, name }: { organizationId: string; name: string }) =>
  rules.where('organization_id', '=', organizationId).where('name', '=', name),
);

/** Like `findRuleByName`, and prevents deletion of the rule until the transaction ends. */
export const holdRule = prepared(({ organizationId, name }: { organizationId: string; name: string }) =>
  rules.where('organization_id', '=', organizationId).where('name', '=', name).forKeyShare(),
);
