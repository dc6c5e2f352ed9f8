import { Field, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../../kernel/graphql/inputs.js';
import { Grant, PERMISSION_SETS, permissionSet } from './token.rules.js';

const PermissionSetEnum = enumType(
  'DatatoolPermissionSet',
  'Permission sets of service tokens.',
  Object.fromEntries(PERMISSION_SETS.map((name) => [name, `Permission set \`${name}\` of the external system.`])),
  permissionSet,
);

inputType('DatatoolGrantInput', Grant);

@ObjectType('DatatoolGrant', { description: 'A permission grant of a service token.', simpleResolvers: true })
class GrantType {
  @Field(() => PermissionSetEnum, { description: 'Permission set of the external system.' })
  permissionSet!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'ID of the external project that the permissions apply to. Null: all projects.',
  })
  projectId!: number | null;
}

@ObjectType('DatatoolServiceTokenParameters', {
  description: 'Name and permissions of the tokens.',
  simpleResolvers: true,
})
export class TokenParametersType {
  @Field(() => String, { description: 'Name of the tokens. The number of the attempt is appended.' })
  tokenName!: string;

  @Field(() => [GrantType], { description: 'Permissions of the tokens.' })
  permissionGrants!: readonly GrantType[];
}
