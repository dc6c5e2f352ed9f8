import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

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
