import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule, inputType } from '../../kernel/graphql/inputs.js';
import {
  AccountMapping,
  AccountParameters,
  AccountTemporary,
  PasswordRequirements,
  rotationMethod,
} from './kinds/hostos-local-account/account.rules.js';

const RotationMethodEnum = { LOGIN_AS_TARGET: 'login-as-target', LOGIN_AS_ROOT: 'login-as-root' } as const;
registerEnumType(RotationMethodEnum, {
  name: 'AccountRotationMethod',
  description: 'Who changes the password of an account.',
  valuesConfig: {
    LOGIN_AS_TARGET: { description: 'The account itself, with the password that it has.' },
    LOGIN_AS_ROOT: { description: 'The account of the connection, which has to be an administrator.' },
  },
});
enumOfRule(rotationMethod, RotationMethodEnum);

inputType('RequiredCharactersInput', PasswordRequirements.shape.required);
inputType('PasswordRequirementsInput', PasswordRequirements);
inputType('HostosLocalAccountParametersInput', AccountParameters);
inputType('HostosLocalAccountMappingInput', AccountMapping);
inputType('HostosLocalAccountTemporaryInput', AccountTemporary);

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

@ObjectType('HostosLocalAccountMapping', {
  description: 'The secrets that hold the name of the account and its password.',
  simpleResolvers: true,
})
export class AccountMappingType {
  @Field(() => String, { description: 'Key of the secret that holds the name of the account.' })
  username!: string;

  @Field(() => String, { description: 'Key of the secret that holds the password.' })
  password!: string;
}
