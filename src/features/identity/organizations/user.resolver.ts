import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { User } from './core/user.entity.js';
import { CreateUser, comparedRole, ListUsers, OneUser, UpdateUser } from './organization.rules.js';
import type { UserService } from './user.service.js';

export const UserType = objectType(
  'User',
  'A person with an account in an organization.',
  {
    id: [ID, 'ID of the user.'],
    username: [
      String,
      'Username in lowercase, for example `jane@example.com`. Unique in the organization that owns the account.',
    ],
    organizationId: [ID, 'ID of the organization that owns the account.'],
    roleSlug: [String, 'Slug of the role of the user in that organization, for example `member`.'],
    /** Not in the schema: whether that membership has not ended. */
    isMember: hiddenField<boolean>(),
    createdAt: [DateTime, 'When the account was created.'],
    updatedAt: [DateTime, 'When the account was last changed.'],
  },
  { implements: Node },
);
export type UserType = InstanceType<typeof UserType>;

const UserConnection = connectionOf(UserType, 'User', 'username, then ID');

@Resolver(() => UserType)
export class UserResolver {
  constructor(private readonly service: UserService) {}

  @query(UserType, OneUser, 'Returns a user of your organization.')
  user(ctx: Context, args: object): Promise<UserType> {
    return this.service.get(ctx, args);
  }

  @query(UserConnection, ListUsers, 'Lists the users of your organization, by username.')
  users(ctx: Context, args: object): Promise<CountedConnectionOf<UserType>> {
    return this.service.list(ctx, args);
  }

  @creation(
    CreateUser,
    { user: [UserType, 'The created user.'] },
    'Creates a user. Users call the API with personal access tokens; see `createPersonalAccessToken`.',
    {
      find: (users: UserResolver, ctx, { username }) =>
        oneNamed(ctx, User, { organizationId: ctx.organizationId, username }, (id) => users.user(ctx, { id })),
      taken: 'USERNAME_TAKEN',
      compare: { roleSlug: comparedRole },
    },
  )
  async createUser(ctx: Context, input: object): Promise<{ user: UserType }> {
    return { user: await this.service.create(ctx, input) };
  }

  @mutation(UpdateUser, { user: [UserType, 'The updated user.'] }, 'Changes the username or the role of a user.')
  async updateUser(ctx: Context, input: object): Promise<{ user: UserType }> {
    return { user: await this.service.update(ctx, input) };
  }

  @mutation(OneUser, { user: [UserType, 'The deleted user.'] }, 'Deletes a user with all memberships and tokens.')
  async deleteUser(ctx: Context, input: object): Promise<{ user: UserType }> {
    return { user: await this.service.delete(ctx, input) };
  }
}
