import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { ONLY_IN } from './environment.rules.js';
import type { EnvironmentService, ReadEnvironment } from './environment.service.js';
import {
  CreateEnvironmentInput,
  CreateEnvironmentPayload,
  DeleteEnvironmentInput,
  DeleteEnvironmentPayload,
  EnvironmentType,
  toEnvironmentType,
  UpdateEnvironmentInput,
  UpdateEnvironmentPayload,
} from './environment.type.js';

const toType = ({ environment, access }: ReadEnvironment): EnvironmentType => toEnvironmentType(environment, access);

@Resolver(() => EnvironmentType)
export class EnvironmentResolver {
  constructor(private readonly environments: EnvironmentService) {}

  @Query(() => EnvironmentType, { description: 'One environment by its id.' })
  async environment(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the environment.' }) id: string,
    @Arg('projectId', () => ID, ONLY_IN) projectId?: string | null,
  ): Promise<EnvironmentType> {
    return toType(await this.environments.get(ctx, { projectId, id }));
  }

  @Query(() => EnvironmentType, { description: 'One environment of a project by its slug.' })
  async environmentBySlug(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('slug', () => String, { description: 'Its slug.' }) slug: string,
  ): Promise<EnvironmentType> {
    return toType(await this.environments.getBySlug(ctx, { projectId, slug }));
  }

  @Mutation(() => CreateEnvironmentPayload, { description: 'Adds an environment to a project.' })
  async createEnvironment(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateEnvironmentInput, { description: 'The new environment.' }) input: CreateEnvironmentInput,
  ): Promise<CreateEnvironmentPayload> {
    return { environment: toType(await this.environments.create(ctx, input)) };
  }

  @Mutation(() => UpdateEnvironmentPayload, {
    description:
      'Renames an environment or moves it among the others. A new slug needs the rights to edit and read every secret in it, with the old and the new slug. Rules that name the environment follow. If a rule would still match only one of the two slugs, for example by a pattern, you also need the right to edit roles, and the rights that the rule gives.',
  })
  async updateEnvironment(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateEnvironmentInput, { description: 'What changes.' }) input: UpdateEnvironmentInput,
  ): Promise<UpdateEnvironmentPayload> {
    return { environment: toType(await this.environments.update(ctx, input)) };
  }

  @Mutation(() => DeleteEnvironmentPayload, {
    description: 'Deletes an environment with its folders and secrets. Needs the rights to delete all of them.',
  })
  async deleteEnvironment(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteEnvironmentInput, { description: 'Which one.' }) input: DeleteEnvironmentInput,
  ): Promise<DeleteEnvironmentPayload> {
    return { environment: toType(await this.environments.delete(ctx, input)) };
  }
}
