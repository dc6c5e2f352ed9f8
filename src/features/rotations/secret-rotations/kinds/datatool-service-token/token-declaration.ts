import { Int } from 'type-graphql';
import { enumType } from '../../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../../../kernel/graphql/object-types.js';
import type { KindDeclaration } from '../../kind/kind-declaration.js';
import { Grant, PERMISSION_SETS, permissionSet, TokenChange, TokenContent } from './token.rules.js';
import { DatatoolServiceToken } from './token-kind.js';

const PermissionSetEnum = enumType(
  'DatatoolPermissionSet',
  'Permission sets of service tokens.',
  Object.fromEntries(PERMISSION_SETS.map((name) => [name, `Permission set \`${name}\` of the external system.`])),
  permissionSet,
);

inputType('DatatoolGrantInput', Grant);

const GrantType = objectType('DatatoolGrant', 'A permission grant of a service token.', {
  permissionSet: [PermissionSetEnum, 'Permission set of the external system.'],
  projectId: [orNull(Int), 'ID of the external project that the permissions apply to. Null: all projects.'],
});

const TokenParametersType = objectType('DatatoolServiceTokenParameters', 'Name and permissions of the tokens.', {
  tokenName: [String, 'Name of the tokens. The number of the attempt is appended.'],
  permissionGrants: [[GrantType], 'Permissions of the tokens.'],
});

/** Rotations of service tokens of a datatool account (operations 16 and 17). */
export const DATATOOL_SERVICE_TOKEN: KindDeclaration<'datatool-service-token'> = {
  type: 'datatool-service-token',
  description:
    'Rotates service tokens of a datatool account. The replaced token stays valid until the next rotation, so consumers have time to read the new one.',
  content: TokenContent,
  change: TokenChange,
  refusesAdoption:
    'tokens cannot be adopted, because the external system does not tell whether an ID and a value belong to one token. Omit adopt: the rotation creates a token of its own. Then revoke the other one by hand',
  parametersType: TokenParametersType,
  credential: {
    description: 'A service token of a datatool account.',
    fields: {
      serviceToken: 'Value of the token.',
      tokenId: 'ID of the token in the external system.',
      tokenName: 'Name of the token in the external system.',
    },
  },
  rest: {
    title: 'a service-token rotation',
    parameters: 'tokenName permissionGrants { permissionSet projectId }',
    operations: { get: { operation: 16 }, delete: { operation: 17 } },
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      name: 'reporting-token',
      description: 'Token of the reporting jobs',
      connectionId: '0f9f4d3e-2a55-4c0e-9d8e-5f0a6a0b1c22',
      environment: 'prod',
      secretPath: '/reporting',
      isAutoRotationEnabled: true,
      rotationInterval: 30,
      rotateAtUtc: { hours: 2, minutes: 30 },
      parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'job_viewer' }] },
      secretsMapping: { serviceToken: 'DATATOOL_TOKEN' },
    },
  },
  create: (policy) => new DatatoolServiceToken(policy),
};
