import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { holding, objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import type { PasswordRequirements } from './requirements.rules.js';
import { PasswordRequirementsType } from './requirements.type.js';

/** A password rule as the API shows it. */
export const PasswordRuleType = objectType(
  'PasswordRule',
  'Named requirements for generated passwords, used by rotations of local accounts.',
  {
    organizationId: [ID, 'ID of the organization.'],
    name: [String, 'Name of the rule, unique in the organization. Rotations refer to it.'],
    description: [orNull(String), 'Description of the rule. Null if it has none.'],
    requirements: [holding<PasswordRequirements>(PasswordRequirementsType), 'Requirements for generated passwords.'],
    version: [Int, 'Version of the rule. Increments with every change.'],
    createdAt: [DateTime, 'When the rule was created.'],
    updatedAt: [DateTime, 'When the rule was last changed.'],
  },
  { implements: Node },
);
export type PasswordRuleType = InstanceType<typeof PasswordRuleType>;

export const PasswordRuleConnection = countedConnectionOf(PasswordRuleType, 'PasswordRule', 'name');
