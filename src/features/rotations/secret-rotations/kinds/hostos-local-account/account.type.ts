import { Field, ObjectType } from 'type-graphql';
import { enumType } from '../../../../../kernel/graphql/enums.js';
import { PasswordRequirementsType } from '../../password-rules/requirements.type.js';
import { type RotationMethod, rotationMethod } from './account.rules.js';

const RotationMethodEnum = enumType<RotationMethod>(
  'AccountRotationMethod',
  'Who changes the password of an account.',
  {
    'login-as-target': 'The account changes its own password, with its current one.',
    'login-as-root': 'The account of the connection, which must be an administrator, resets it.',
  },
  rotationMethod,
);

@ObjectType('HostosLocalAccountParameters', {
  description: 'The local account, and how its password is changed.',
  simpleResolvers: true,
})
export class AccountParametersType {
  @Field(() => String, { description: 'Name of the account.' })
  username!: string;

  @Field(() => PasswordRequirementsType, {
    nullable: true,
    description: 'Requirements for generated passwords. Null: those of the password rule, or else the default.',
  })
  passwordRequirements!: PasswordRequirementsType | null;

  @Field(() => String, {
    nullable: true,
    description: 'Name of the password rule of the organization that generated passwords follow. Null: none.',
  })
  passwordRule!: string | null;

  @Field(() => RotationMethodEnum, { description: 'Who changes the password.' })
  rotationMethod!: string;
}
