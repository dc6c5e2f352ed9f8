import { Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { organizationRole } from './organization.rules.js';

/** The roles of an organization as GraphQL names them. */
export const OrganizationRoleEnum = { ADMIN: 'admin', MEMBER: 'member', NO_ACCESS: 'no-access' } as const;
registerEnumType(OrganizationRoleEnum, {
  name: 'OrganizationRole',
  description: 'What a user or a machine identity may do in an organization. Projects have roles of their own.',
  valuesConfig: {
    ADMIN: { description: 'Everything in the organization.' },
    MEMBER: { description: 'Makes projects; reads organization, members and identities.' },
    NO_ACCESS: { description: 'Nothing in the organization; its projects may still give rights.' },
  },
});

enumOfRule(organizationRole, OrganizationRoleEnum);

@ObjectType('User', {
  implements: Node,
  description: 'A person with an account in the organization.',
  simpleResolvers: true,
})
export class UserType {
  @Field(() => ID, { description: 'Identifies the user.' })
  id!: string;

  @Field(() => String, { description: 'Lower-case name, unique in the organization that owns the account.' })
  username!: string;

  @Field(() => ID, { description: 'The organization that owns the account.' })
  organizationId!: string;

  @Field(() => OrganizationRoleEnum, { description: 'What the user is in that organization.' })
  role!: string;

  @Field(() => DateTime, { description: 'When the account was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the account was last changed.' })
  updatedAt!: Date;
}

export const UserConnection = connectionOf(UserType, 'User', 'username, then id');

@InputType({ description: 'A new user of the organization.' })
export class CreateUserInput {
  @Field(() => String, { description: 'Letters, digits and . _ @ + -, up to 255; kept in lower case.' })
  username!: string;

  @Field(() => OrganizationRoleEnum, {
    nullable: true,
    description: 'What the user is in the organization; MEMBER when absent.',
  })
  role?: string;
}

@InputType({ description: 'Changes of a user. What is absent stays.' })
export class UpdateUserInput {
  @Field(() => ID, { description: 'The user to change.' })
  id!: string;

  @Field(() => String, { nullable: true, description: 'A new username.' })
  username?: string;

  @Field(() => OrganizationRoleEnum, { nullable: true, description: 'A new role in the organization.' })
  role?: string;
}

@InputType({ description: 'Which user to delete.' })
export class DeleteUserInput {
  @Field(() => ID, { description: 'The user to delete, with all memberships and tokens.' })
  id!: string;
}

@ObjectType({ description: 'The new user.' })
export class CreateUserPayload {
  @Field(() => UserType, { description: 'The new user.' })
  user!: UserType;
}

@ObjectType({ description: 'The changed user.' })
export class UpdateUserPayload {
  @Field(() => UserType, { description: 'The user as it is now.' })
  user!: UserType;
}

@ObjectType({ description: 'The user as it was.' })
export class DeleteUserPayload {
  @Field(() => UserType, { description: 'The deleted user.' })
  user!: UserType;
}
