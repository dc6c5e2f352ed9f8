import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';

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

  @Field(() => String, { description: 'Slug of the role that the user has in that organization.' })
  roleSlug!: string;

  @Field(() => DateTime, { description: 'When the account was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the account was last changed.' })
  updatedAt!: Date;
}

export const UserConnection = countedConnectionOf(UserType, 'User', 'username, then ID');

@InputType({ description: 'A new user of the organization.' })
export class CreateUserInput {
  @Field(() => String, { description: 'Letters, digits and . _ @ + -, up to 255; kept in lower case.' })
  username!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Slug of the role that the user gets in the organization; `member` when absent.',
  })
  roleSlug?: string;
}

@InputType({ description: 'Changes of a user. What is absent stays.' })
export class UpdateUserInput {
  @Field(() => ID, { description: 'The user to change.' })
  id!: string;

  @Field(() => String, { nullable: true, description: 'A new username.' })
  username?: string;

  @Field(() => String, { nullable: true, description: 'Slug of a new role in the organization.' })
  roleSlug?: string;
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
