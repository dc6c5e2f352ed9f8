import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { OrderedPageArgs } from '../../kernel/graphql/list-order.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import type { UserService } from './user.service.js';
import {
  CreateUserInput,
  CreateUserPayload,
  DeleteUserInput,
  DeleteUserPayload,
  UpdateUserInput,
  UpdateUserPayload,
  UserConnection,
  UserType,
} from './user.type.js';

@Resolver(() => UserType)
export class UserResolver {
  constructor(private readonly service: UserService) {}

  @Query(() => UserType, { description: 'One user of your organization.' })
  user(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'ID of the user.' }) id: string): Promise<UserType> {
    return this.service.get(ctx, { id });
  }

  @Query(() => UserConnection, { description: 'The users of your organization, by username.' })
  users(
    @Ctx() ctx: Context,
    @Args(() => OrderedPageArgs) page: OrderedPageArgs,
  ): Promise<CountedConnectionOf<UserType>> {
    return this.service.list(ctx, page);
  }

  @Mutation(() => CreateUserPayload, {
    description: 'Makes a user. A person acts through personal access tokens: see createPersonalAccessToken.',
  })
  async createUser(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateUserInput, { description: 'The new user.' }) input: CreateUserInput,
  ): Promise<CreateUserPayload> {
    return { user: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateUserPayload, { description: 'Changes the username or the role of a user.' })
  async updateUser(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateUserInput, { description: 'What to change.' }) input: UpdateUserInput,
  ): Promise<UpdateUserPayload> {
    return { user: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteUserPayload, { description: 'Deletes a user with all memberships and tokens.' })
  async deleteUser(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteUserInput, { description: 'Which one.' }) input: DeleteUserInput,
  ): Promise<DeleteUserPayload> {
    return { user: await this.service.delete(ctx, input) };
  }
}
