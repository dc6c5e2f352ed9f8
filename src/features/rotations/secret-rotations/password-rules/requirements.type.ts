import { Field, Int, ObjectType } from 'type-graphql';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { PasswordRequirements } from './requirements.rules.js';

inputType('RequiredCharactersInput', PasswordRequirements.shape.required);
inputType('PasswordRequirementsInput', PasswordRequirements);

@ObjectType('RequiredCharacters', { description: 'Minimum number of characters of each class.', simpleResolvers: true })
class RequiredCharactersType {
  @Field(() => Int, { description: 'Minimum number of lower-case letters. With 0, none are used.' })
  lowercase!: number;

  @Field(() => Int, { description: 'Minimum number of upper-case letters. With 0, none are used.' })
  uppercase!: number;

  @Field(() => Int, { description: 'Minimum number of digits. With 0, none are used.' })
  digits!: number;

  @Field(() => Int, { description: 'Minimum number of symbols. With 0, none are used.' })
  symbols!: number;
}

@ObjectType('PasswordRequirements', { description: 'Requirements for generated passwords.', simpleResolvers: true })
export class PasswordRequirementsType {
  @Field(() => Int, { description: 'Length of the password in characters.' })
  length!: number;

  @Field(() => RequiredCharactersType, { description: 'Minimum number of characters of each class.' })
  required!: RequiredCharactersType;

  @Field(() => String, { nullable: true, description: 'Symbols that may be used. Null or empty: the default ones.' })
  allowedSymbols!: string | null;
}
