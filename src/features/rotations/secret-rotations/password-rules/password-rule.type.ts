import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType, orNull, typedAs } from '../../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import { PasswordRequirements } from './password-rule.rules.js';

inputType('RequiredCharactersInput', PasswordRequirements.shape.required);
inputType('PasswordRequirementsInput', PasswordRequirements);

const RequiredCharactersType = objectType('RequiredCharacters', 'Minimum number of characters of each class.', {
  digits: [Int, 'Minimum number of digits. With 0, none are used.'],
  lowercase: [Int, 'Minimum number of lower-case letters. With 0, none are used.'],
  uppercase: [Int, 'Minimum number of upper-case letters. With 0, none are used.'],
  symbols: [Int, 'Minimum number of symbols. With 0, none are used.'],
});

export const PasswordRequirementsType = objectType('PasswordRequirements', 'Requirements for generated passwords.', {
  length: [Int, 'Length of the password in characters.'],
  required: [RequiredCharactersType, 'Minimum number of characters of each class.'],
  allowedSymbols: [orNull(String), 'Symbols that may be used. Null or empty: the default ones.'],
});
export type PasswordRequirementsType = InstanceType<typeof PasswordRequirementsType>;

/** A password rule as the API shows it. */
export const PasswordRuleType = objectType(
  'PasswordRule',
  'Named requirements for generated passwords, used by rotations of local accounts.',
  {
    organizationId: [ID, 'ID of the organization.'],
    name: [String, 'Name of the rule, unique in the organization. Rotations refer to it.'],
    description: [orNull(String), 'Description of the rule. Null if it has none.'],
    requirements: [typedAs<PasswordRequirements>(PasswordRequirementsType), 'Requirements for generated passwords.'],
    version: [Int, 'Version of the rule. Increments with every change.'],
    createdAt: [DateTime, 'When the rule was created.'],
    updatedAt: [DateTime, 'When the rule was last changed.'],
  },
  { implements: Node },
);
export type PasswordRuleType = InstanceType<typeof PasswordRuleType>;

export const PasswordRuleConnection = connectionOf(PasswordRuleType, 'PasswordRule', 'name');
