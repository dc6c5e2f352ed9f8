import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { hidden, objectType } from '../../../kernel/graphql/object-types.js';
import '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { EnvironmentRecord } from '../core/environment.entity.js';
import type { ProjectAccess } from '../core/project-access.js';
import { EnvironmentFilter, EnvironmentPage, UpdateEnvironment } from './environment.rules.js';

/** API type of an environment. `access` is for field resolvers and is not itself a field. */
export const EnvironmentType = objectType(
  'Environment',
  'A deployment stage of a project, such as production. Environments contain folders and secrets.',
  {
    access: hidden<ProjectAccess>(),
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

export const EnvironmentConnection = countedConnectionOf(EnvironmentType, 'Environment', 'position');

/** Arguments of the environments of a project. */
export const EnvironmentFilterArgs = argsType(EnvironmentFilter);
export type EnvironmentFilterArgs = InstanceType<typeof EnvironmentFilterArgs>;
export const EnvironmentPageArgs = argsType(EnvironmentPage);
export type EnvironmentPageArgs = InstanceType<typeof EnvironmentPageArgs>;

export const toEnvironmentType = (record: EnvironmentRecord, access: ProjectAccess): EnvironmentType => ({
  access,
  ...record,
});

export const UpdateEnvironmentInput = inputType(
  'UpdateEnvironmentInput',
  UpdateEnvironment,
  'Input of `updateEnvironment`. Absent fields keep their values.',
);
