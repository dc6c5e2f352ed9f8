import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';

@ObjectType('User', {
  implements: Node,
  description: 'A person with an account in an organization.',
  simpleResolvers: true,
})
export class UserType {
  @Field(() => ID, { description: 'ID of the user.' })
  id!: string;

  @Field(() => String, {
    description:
      'Username in lowercase, for example `jane@example.com`. Unique in the organization that owns the account.',
  })
  username!: string;

  @Field(() => ID, { description: 'ID of the organization that owns the account.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role of the user in that organization, for example `member`.' })
  roleSlug!: string;

  @Field(() => DateTime, { description: 'When the account was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the account was last changed.' })
  updatedAt!: Date;
}

export const UserConnection = countedConnectionOf(UserType, 'User', 'username, then ID');

@InputType({ description: 'Input of `createUser`.' })
export class CreateUserInput {
  @Field(() => String, {
    description:
      'Letters, digits and `. _ @ + -`, 1 to 255 characters, for example `jane@example.com`. Stored in lowercase.',
  })
  username!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Slug of the role of the user in the organization. Default: `member`.',
  })
  roleSlug?: string;
}

@InputType({ description: 'Input of `updateUser`.' })
export class UpdateUserInput {
  @Field(() => ID, { description: 'ID of the user.' })
  id!: string;

  @Field(() => String, { nullable: true, description: 'New username.' })
  username?: string;

  @Field(() => String, { nullable: true, description: 'Slug of the new role in the organization.' })
  roleSlug?: string;
}

@InputType({ description: 'Input of `deleteUser`.' })
export class DeleteUserInput {
  @Field(() => ID, { description: 'ID of the user.' })
  id!: string;
}

@ObjectType({ description: 'Result of `createUser`.' })
export class CreateUserPayload {
  @Field(() => UserType, { description: 'The created user.' })
  user!: UserType;
}

@ObjectType({ description: 'Result of `updateUser`.' })
export class UpdateUserPayload {
  @Field(() => UserType, { description: 'The updated user.' })
  user!: UserType;
}

@ObjectType({ description: 'Result of `deleteUser`.' })
export class DeleteUserPayload {
  @Field(() => UserType, { description: 'The deleted user.' })
  user!: UserType;
}
