import { Field, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { Grant, PERMISSION_SETS, permissionSet } from './token.rules.js';

const PermissionSetEnum = enumType(
  'DatatoolPermissionSet',
  'A set of rights of service tokens.',
  Object.fromEntries(PERMISSION_SETS.map((name) => [name, `\`${name}\` of the outside system.`])),
  permissionSet,
);

inputType('DatatoolGrantInput', Grant);

@ObjectType('DatatoolGrant', { description: 'Rights of a service token.', simpleResolvers: true })
class GrantType {
  @Field(() => PermissionSetEnum, { description: 'A set of rights of the outside system.' })
  permissionSet!: string;

  @Field(() => Int, { nullable: true, description: 'The project of the outside system; null: all of its projects.' })
  projectId!: number | null;
}

@ObjectType('DatatoolServiceTokenParameters', { description: 'What tokens are made.', simpleResolvers: true })
export class TokenParametersType {
  @Field(() => String, { description: 'What the tokens are called; the number of the attempt is appended.' })
  tokenName!: string;

  @Field(() => [GrantType], { description: 'What the tokens may do.' })
  permissionGrants!: readonly GrantType[];
}
