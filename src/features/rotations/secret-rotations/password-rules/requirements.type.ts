import { Int } from 'type-graphql';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { PasswordRequirements } from './requirements.rules.js';

inputType('RequiredCharactersInput', PasswordRequirements.shape.required);
inputType('PasswordRequirementsInput', PasswordRequirements);

const RequiredCharactersType = objectType('RequiredCharacters', 'Minimum number of characters of each class.', {
  lowercase: [Int, 'Minimum number of lower-case letters. With 0, none are used.'],
  uppercase: [Int, 'Minimum number of upper-case letters. With 0, none are used.'],
  digits: [Int, 'Minimum number of digits. With 0, none are used.'],
  symbols: [Int, 'Minimum number of symbols. With 0, none are used.'],
});

export const PasswordRequirementsType = objectType('PasswordRequirements', 'Requirements for generated passwords.', {
  length: [Int, 'Length of the password in characters.'],
  required: [RequiredCharactersType, 'Minimum number of characters of each class.'],
  allowedSymbols: [orNull(String), 'Symbols that may be used. Null or empty: the default ones.'],
});
export type PasswordRequirementsType = InstanceType<typeof PasswordRequirementsType>;
