import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { hiddenField, objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import {
  CreateEnvironment,
  EnvironmentBySlug,
  EnvironmentFilter,
  OneEnvironment,
  UpdateEnvironment,
} from './environment.rules.js';
import type { EnvironmentService, ReadEnvironment } from './environment.service.js';
import '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { bodyOf, type Data, routesAt } from '../../../rest/route.js';
import type { EnvironmentRecord } from '../core/environment.entity.js';
import type { ProjectAccess } from '../core/project-access.js';

/** API type of an environment. `access` is for field resolvers and is not itself a field. */
export const EnvironmentType = objectType(
  'Environment',
  'A deployment stage of a project, such as production. Environments contain folders and secrets.',
  {
    access: hiddenField<ProjectAccess>(),
    id: [ID, 'ID of the environment.'],
    name: [String, 'Name of the environment, for example `Production`.'],
    slug: [String, 'Slug of the environment, unique in the project, for example `prod`.'],
    position: [Int, 'Position among the environments of the project, from 1 without gaps.'],
    projectId: [ID, 'ID of the project.'],
    createdAt: [DateTime, 'When the environment was created.'],
    updatedAt: [DateTime, 'When the environment was last changed.'],
  },
  { implements: Node },
);
export type EnvironmentType = InstanceType<typeof EnvironmentType>;

/** Arguments of the environments of a project. */
export const EnvironmentFilterArgs = argsType(EnvironmentFilter);
export type EnvironmentFilterArgs = InstanceType<typeof EnvironmentFilterArgs>;

export const toEnvironmentType = (record: EnvironmentRecord, access: ProjectAccess): EnvironmentType => ({
  access,
  ...record,
});

const UpdateEnvironmentInput = inputType(
  'UpdateEnvironmentInput',
  UpdateEnvironment,
  'Input of `updateEnvironment`. Absent fields keep their values.',
);

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

  @creation(
    CreateEnvironment,
    { environment: [EnvironmentType, 'The environment. A new one has an empty root folder.'] },
    'Creates an environment in a project.',
    {
      find: (environments: EnvironmentResolver, ctx, { projectId, slug }) =>
        environments.environmentBySlug(ctx, { projectId, slug }),
      taken: 'ENVIRONMENT_SLUG_TAKEN',
      // It may have moved since.
      compare: { position: null },
    },
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

const environments = routesAt('/api/v1/projects/{projectId}/environments', { errors: ['PROJECT_NOT_FOUND'] });

/** The reply of a change. */
const done = (message: string) => ({
  reply: (data: Data) => {
    const { environment } = Object.values(data)[0] as Data;
    return { message, projectId: environment.projectId, environment };
  },
});

/** Environments of a project. */
export const environmentRoutes = [
  environments.post('', 'Create an environment', {
    field: 'createEnvironment',
    body: bodyOf(CreateEnvironment, 'projectId'),
    ...done('The environment was created.'),
    example: { name: 'Preview', slug: 'preview', position: 2 },
    errors: ['ENVIRONMENT_SLUG_TAKEN'],
  }),
  environments.get('/{environmentId}', 'Get an environment', {
    field: 'environment',
    cached: true,
    errors: ['ENVIRONMENT_NOT_FOUND'],
  }),
  environments.get('/slug/{slug}', 'Get an environment by its slug', {
    field: 'environmentBySlug',
    as: null,
    cached: true,
    errors: ['ENVIRONMENT_NOT_FOUND'],
  }),
  environments.patch('/{environmentId}', 'Update an environment', {
    field: 'updateEnvironment',
    body: bodyOf(UpdateEnvironment, 'projectId', 'id'),
    ...done('The environment was updated.'),
    example: { name: 'Pre-production', position: 1 },
    errors: [
      ...(['ENVIRONMENT_NOT_FOUND', 'ENVIRONMENT_SLUG_TAKEN', 'REFERENCES_TOO_LONG', 'CONCURRENT_CHANGE'] as const),
      'SEALED_VALUE_INVALID',
    ],
  }),
  environments.delete('/{environmentId}', 'Delete an environment', {
    field: 'deleteEnvironment',
    ...done('The environment was deleted.'),
    errors: ['ENVIRONMENT_NOT_FOUND', 'ENVIRONMENT_IMPORTED', 'ROTATED_SECRET'],
  }),
];
