import { Int } from 'type-graphql';
import { enumType } from '../../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../../../kernel/graphql/object-types.js';
import { Grant, PERMISSION_SETS, permissionSet } from './token.rules.js';

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

export const TokenParametersType = objectType('DatatoolServiceTokenParameters', 'Name and permissions of the tokens.', {
  tokenName: [String, 'Name of the tokens. The number of the attempt is appended.'],
  permissionGrants: [[GrantType], 'Permissions of the tokens.'],
});
