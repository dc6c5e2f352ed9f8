import type { KindDeclaration } from '../../kind/kind-declaration.js';
import { AccountChange, AccountContent } from './account.rules.js';
import { AccountParametersType } from './account.type.js';
import { HostosLocalAccount } from './account-kind.js';

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
