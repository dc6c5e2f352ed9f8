import { enumType } from '../../../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../../../kernel/graphql/object-types.js';
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

export const AccountParametersType = objectType(
  'HostosLocalAccountParameters',
  'The local account, and how its password is changed.',
  {
    username: [String, 'Name of the account.'],
    passwordRequirements: [
      orNull(PasswordRequirementsType),
      'Requirements for generated passwords. Null: those of the password rule, or else the default.',
    ],
    passwordRule: [
      orNull(String),
      'Name of the password rule of the organization that generated passwords follow. Null: none.',
    ],
    rotationMethod: [RotationMethodEnum, 'Who changes the password.'],
  },
);
