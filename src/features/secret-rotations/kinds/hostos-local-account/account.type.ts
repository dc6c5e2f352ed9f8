import { Field, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { PasswordRequirements, type RotationMethod, rotationMethod } from './account.rules.js';

const RotationMethodEnum = enumType<RotationMethod>(
  'AccountRotationMethod',
  'Who changes the password of an account.',
  {
    'login-as-target': 'The account itself, with the password that it has.',
    'login-as-root': 'The account of the connection, which has to be an administrator.',
  },
  rotationMethod,
);

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
class PasswordRequirementsType {
  @Field(() => Int, { description: 'Their length in characters.' })
  length!: number;

  @Field(() => RequiredCharactersType, { description: 'How many of which characters they have at least.' })
  required!: RequiredCharactersType;

  @Field(() => String, { nullable: true, description: 'Which symbols are used; null or empty: those of the default.' })
  allowedSymbols!: string | null;
}

@ObjectType('HostosLocalAccountParameters', {
  description: 'Which account it is, and how its password changes.',
  simpleResolvers: true,
})
export class AccountParametersType {
  @Field(() => String, { description: 'Name of the account.' })
  username!: string;

  @Field(() => PasswordRequirementsType, {
    nullable: true,
    description: 'What its passwords are like; null: as they are by default.',
  })
  passwordRequirements!: PasswordRequirementsType | null;

  @Field(() => RotationMethodEnum, { description: 'Who changes the password.' })
  rotationMethod!: string;
}
