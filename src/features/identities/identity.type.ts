import { GraphQLDateTimeISO } from 'graphql-scalars';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import type { OrganizationRole } from '../../kernel/authz/roles.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { OrganizationRoleEnum } from '../organizations/public.js';
import { type AuthMethod, AuthMethodEnum } from './auth-method.js';

@ObjectType('Identity', {
  implements: Node,
  description: 'A machine that acts by itself, with tokens of its own.',
  simpleResolvers: true,
})
export class IdentityType {
  @Field(() => ID, { description: 'Id of the machine identity.' })
  id!: string;

  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => ID, { description: 'The organization that owns it.' })
  organizationId!: string;

  @Field(() => OrganizationRoleEnum, { description: 'What it is in that organization.' })
  role!: OrganizationRole;

  @Field(() => Boolean, { description: 'Token authentication is attached, so that tokens can be made for it.' })
  hasTokenAuth!: boolean;

  @Field(() => Boolean, { description: 'Universal authentication is attached, so that it can log in.' })
  hasUniversalAuth!: boolean;

  @Field(() => [AuthMethodEnum], { description: 'The ways in which it can authenticate.' })
  authMethods!: AuthMethod[];

  @Field(() => Boolean, { description: 'It is the admin of the installation, which only itself can change.' })
  isInstallationAdmin!: boolean;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const IdentityConnection = connectionOf(IdentityType, 'Identity', 'name, then id');

@InputType({ description: 'A new machine identity.' })
export class CreateIdentityInput {
  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'Your organization, which shall own it; any other is not found. That of your token when absent.',
  })
  organizationId?: string | null;

  @Field(() => OrganizationRoleEnum, {
    nullable: true,
    description: 'What it is in the organization; NO_ACCESS when absent.',
  })
  role?: OrganizationRole;
}

@InputType({ description: 'Changes of a machine identity. What is absent stays.' })
export class UpdateIdentityInput {
  @Field(() => ID, { description: 'The identity to change.' })
  identityId!: string;

  @Field(() => String, { nullable: true, description: 'A new name, 1 to 64 characters.' })
  name?: string;

  @Field(() => OrganizationRoleEnum, { nullable: true, description: 'A new role in the organization.' })
  role?: OrganizationRole;
}

@InputType({ description: 'Which machine identity to delete.' })
export class DeleteIdentityInput {
  @Field(() => ID, { description: 'The identity to delete, with all memberships and tokens.' })
  identityId!: string;
}

@ObjectType({ description: 'The new machine identity.' })
export class CreateIdentityPayload {
  @Field(() => IdentityType, { description: 'The new identity.' })
  identity!: IdentityType;
}

@ObjectType({ description: 'The changed machine identity.' })
export class UpdateIdentityPayload {
  @Field(() => IdentityType, { description: 'The identity as it is now.' })
  identity!: IdentityType;
}

@ObjectType({ description: 'The machine identity as it was.' })
export class DeleteIdentityPayload {
  @Field(() => IdentityType, { description: 'The deleted identity.' })
  identity!: IdentityType;
}
