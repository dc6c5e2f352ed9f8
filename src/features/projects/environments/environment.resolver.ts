import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { CreateEnvironment, EnvironmentBySlug, OneEnvironment } from './environment.rules.js';
import type { EnvironmentService, ReadEnvironment } from './environment.service.js';
import { EnvironmentType, toEnvironmentType, UpdateEnvironmentInput } from './environment.type.js';

const toType = ({ environment, access }: ReadEnvironment): EnvironmentType => toEnvironmentType(environment, access);

@Resolver(() => EnvironmentType)
export class EnvironmentResolver {
  constructor(private readonly environments: EnvironmentService) {}

  @query(EnvironmentType, OneEnvironment, 'Returns an environment by ID.')
  async environment(ctx: Context, args: object): Promise<EnvironmentType> {
    return toType(await this.environments.get(ctx, args));
  }

  @query(EnvironmentType, EnvironmentBySlug, 'Returns an environment of a project by slug.')
  async environmentBySlug(ctx: Context, args: object): Promise<EnvironmentType> {
    return toType(await this.environments.getBySlug(ctx, args));
  }

  @mutation(
    CreateEnvironment,
    { environment: [EnvironmentType, 'The new environment, with an empty root folder.'] },
    'Creates an environment in a project.',
  )
  async createEnvironment(ctx: Context, input: object): Promise<{ environment: EnvironmentType }> {
    return { environment: toType(await this.environments.create(ctx, input)) };
  }

  @mutation(
    UpdateEnvironmentInput,
    { environment: [EnvironmentType, 'The updated environment.'] },
    'Renames an environment, or changes its position. A new slug requires permission to edit and read every secret ' +
      'in the environment, with the old and the new slug. Permission rules that name the environment are updated. If ' +
      'a rule would still match only one of the two slugs, for example by a pattern, you also need permission to edit ' +
      'roles, and the permissions that the rule grants.',
  )
  async updateEnvironment(ctx: Context, input: object): Promise<{ environment: EnvironmentType }> {
    return { environment: toType(await this.environments.update(ctx, input)) };
  }

  @mutation(
    OneEnvironment,
    { environment: [EnvironmentType, 'The deleted environment.'] },
    'Deletes an environment with its folders and secrets. Requires permission to delete all of them.',
  )
  async deleteEnvironment(ctx: Context, input: object): Promise<{ environment: EnvironmentType }> {
    return { environment: toType(await this.environments.delete(ctx, input)) };
  }
}
