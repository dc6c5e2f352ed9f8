import { Field, ObjectType } from 'type-graphql';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { PasswordRequirementsType } from '../../password-rules/requirements.type.js';
import { type RotationMethod, rotationMethod } from './account.rules.js';

const RotationMethodEnum = enumType<RotationMethod>(
  'AccountRotationMethod',
  'Who changes the password of an account.',
  {
    'login-as-target': 'The account itself, with the password that it has.',
    'login-as-root': 'The account of the connection, which has to be an administrator.',
  },
  rotationMethod,
);

@ObjectType('HostosLocalAccountParameters', {
  description: 'Which account it is, and how its password changes.',
  simpleResolvers: true,
})
export class AccountParametersType {
  @Field(() => String, { description: 'Name of the account.' })
  username!: string;

  @Field(() => PasswordRequirementsType, {
    nullable: true,
    description: 'What its passwords are like; null: as its rule says, or else as they are by default.',
  })
  passwordRequirements!: PasswordRequirementsType | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Name of the password rule of the organization that says what its passwords are like; null: none does.',
  })
  passwordRule!: string | null;

  @Field(() => RotationMethodEnum, { description: 'Who changes the password.' })
  rotationMethod!: string;
}
