import { Field, Int, ObjectType } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { PasswordRequirements } from './requirements.rules.js';

inputType('RequiredCharactersInput', PasswordRequirements.shape.required);
inputType('PasswordRequirementsInput', PasswordRequirements);

@ObjectType('RequiredCharacters', { description: 'How many characters of a class at least.', simpleResolvers: true })
class RequiredCharactersType {
  @Field(() => Int, { description: 'Lower-case letters; 0: none is used.' })
  lowercase!: number;

  @Field(() => Int, { description: 'Upper-case letters; 0: none is used.' })
  uppercase!: number;

  @Field(() => Int, { description: 'Digits; 0: none is used.' })
  digits!: number;

  @Field(() => Int, { description: 'Symbols; 0: none is used.' })
  symbols!: number;
}

@ObjectType('PasswordRequirements', { description: 'What generated passwords are like.', simpleResolvers: true })
export class PasswordRequirementsType {
  @Field(() => Int, { description: 'Their length in characters.' })
  length!: number;

  @Field(() => RequiredCharactersType, { description: 'How many of which characters they have at least.' })
  required!: RequiredCharactersType;

  @Field(() => String, { nullable: true, description: 'Which symbols are used; null or empty: those of the default.' })
  allowedSymbols!: string | null;
}
