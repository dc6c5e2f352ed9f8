import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { ONLY_IN } from '../core/project.rules.js';
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

  @Query(() => EnvironmentType, { description: 'Returns an environment by ID.' })
  async environment(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the environment.' }) id: string,
    @Arg('projectId', () => ID, ONLY_IN) projectId?: string | null,
  ): Promise<EnvironmentType> {
    return toType(await this.environments.get(ctx, { projectId, id }));
  }

  @Query(() => EnvironmentType, { description: 'Returns an environment of a project by slug.' })
  async environmentBySlug(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('slug', () => String, { description: 'Slug of the environment, for example `prod`.' }) slug: string,
  ): Promise<EnvironmentType> {
    return toType(await this.environments.getBySlug(ctx, { projectId, slug }));
  }

  @Mutation(() => CreateEnvironmentPayload, { description: 'Creates an environment in a project.' })
  async createEnvironment(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateEnvironmentInput, { description: 'Fields of the new environment.' })
    input: CreateEnvironmentInput,
  ): Promise<CreateEnvironmentPayload> {
    return { environment: toType(await this.environments.create(ctx, input)) };
  }

  @Mutation(() => UpdateEnvironmentPayload, {
    description:
      'Renames an environment, or changes its position. A new slug requires permission to edit and read every secret ' +
      'in the environment, with the old and the new slug. Permission rules that name the environment are updated. If ' +
      'a rule would still match only one of the two slugs, for example by a pattern, you also need permission to edit ' +
      'roles, and the permissions that the rule grants.',
  })
  async updateEnvironment(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateEnvironmentInput, { description: 'The environment and its new fields.' })
    input: UpdateEnvironmentInput,
  ): Promise<UpdateEnvironmentPayload> {
    return { environment: toType(await this.environments.update(ctx, input)) };
  }

  @Mutation(() => DeleteEnvironmentPayload, {
    description: 'Deletes an environment with its folders and secrets. Requires permission to delete all of them.',
  })
  async deleteEnvironment(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteEnvironmentInput, { description: 'The environment to delete, by ID.' })
    input: DeleteEnvironmentInput,
  ): Promise<DeleteEnvironmentPayload> {
    return { environment: toType(await this.environments.delete(ctx, input)) };
  }
}
