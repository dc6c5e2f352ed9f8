import { enumType } from '../../../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../../../kernel/graphql/object-types.js';
import type { KindDeclaration } from '../../kind/kind-declaration.js';
import { PasswordRequirementsType } from '../../password-rules/requirements.type.js';
import { AccountChange, AccountContent, type RotationMethod, rotationMethod } from './account.rules.js';
import { HostosLocalAccount } from './account-kind.js';

const RotationMethodEnum = enumType<RotationMethod>(
  'AccountRotationMethod',
  'Who changes the password of an account.',
  {
    'login-as-target': 'The account changes its own password, with its current one.',
    'login-as-root': 'The account of the connection, which must be an administrator, resets it.',
  },
  rotationMethod,
);

const AccountParametersType = objectType(
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

/** Rotations of passwords of local accounts (operation 18). */
export const HOSTOS_LOCAL_ACCOUNT: KindDeclaration<'hostos-local-account'> = {
  type: 'hostos-local-account',
  description:
    'Rotates the password of a local account of a Windows or Samba server. An account has only one password: the old one becomes invalid as soon as the new one is set.',
  content: AccountContent,
  change: AccountChange,
  parametersType: AccountParametersType,
  credential: {
    description: 'A password of a local account. Only the active one is valid.',
    fields: { username: 'Name of the account.', password: 'Password of the account.' },
  },
  rest: {
    title: 'a local-account rotation',
    parameters:
      'username passwordRequirements { length required { digits lowercase uppercase symbols } allowedSymbols } passwordRule rotationMethod',
    isReset: true,
    operations: { rotate: { operation: 18 } },
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      name: 'backup-account',
      description: 'Account of the backup service',
      connectionId: '0f9f4d3e-2a55-4c0e-9d8e-5f0a6a0b1c22',
      environment: 'prod',
      secretPath: '/backup',
      isAutoRotationEnabled: true,
      rotationInterval: 30,
      rotateAtUtc: { hours: 2, minutes: 30 },
      parameters: { username: 'backup', rotationMethod: 'login-as-target' },
      secretsMapping: { username: 'BACKUP_USER', password: 'BACKUP_PASSWORD' },
      temporaryParameters: { password: 'the present password' },
    },
  },
  create: (policy) => new HostosLocalAccount(policy),
};
