import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../../kernel/database/columns.js';
import type { PasswordRequirements } from './password-rule.rules.js';

export const PasswordRuleSchema = defineEntity({
  name: 'PasswordRule',
  tableName: 'password_rule',
  uniques: [{ name: 'password_rule_name_unique', properties: ['organizationId', 'name'] }],
  properties: {
    ...organizationColumns,
    name: p.text(),
    description: p.text().nullable(),
    requirements: p.json<PasswordRequirements>(),
    version: p.integer().default(1),
  },
});

/** Requirements for generated passwords, under a name that rotations of the organization use. */
export class PasswordRule extends PasswordRuleSchema.class {}
PasswordRuleSchema.setClass(PasswordRule);
