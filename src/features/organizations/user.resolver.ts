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

  @Query(() => UserType, { description: 'Returns a user of your organization.' })
  user(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'ID of the user.' }) id: string): Promise<UserType> {
    return this.service.get(ctx, { id });
  }

  @Query(() => UserConnection, { description: 'Lists the users of your organization, by username.' })
  users(
    @Ctx() ctx: Context,
    @Args(() => OrderedPageArgs) page: OrderedPageArgs,
  ): Promise<CountedConnectionOf<UserType>> {
    return this.service.list(ctx, page);
  }

  @Mutation(() => CreateUserPayload, {
    description: 'Creates a user. Users call the API with personal access tokens; see `createPersonalAccessToken`.',
  })
  async createUser(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateUserInput, { description: 'Fields of the new user.' }) input: CreateUserInput,
  ): Promise<CreateUserPayload> {
    return { user: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateUserPayload, { description: 'Changes the username or the role of a user.' })
  async updateUser(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateUserInput, { description: 'Fields to change. Omitted fields keep their values.' })
    input: UpdateUserInput,
  ): Promise<UpdateUserPayload> {
    return { user: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteUserPayload, { description: 'Deletes a user with all memberships and tokens.' })
  async deleteUser(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteUserInput, { description: 'The user to delete, by ID.' }) input: DeleteUserInput,
  ): Promise<DeleteUserPayload> {
    return { user: await this.service.delete(ctx, input) };
  }
}
