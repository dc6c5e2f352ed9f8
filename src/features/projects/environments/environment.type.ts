import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { EnvironmentRecord } from '../core/environment.entity.js';
import type { ProjectAccess } from '../core/project-access.js';
import { EnvironmentFilter, EnvironmentPage, UpdateEnvironment } from './environment.rules.js';

/** API type of an environment. `access` is for field resolvers and is not itself a field. */
@ObjectType('Environment', {
  implements: Node,
  description: 'A deployment stage of a project, such as production. Environments contain folders and secrets.',
  simpleResolvers: true,
})
export class EnvironmentType {
  readonly access!: ProjectAccess;

  @Field(() => ID, { description: 'ID of the environment.' })
  id!: string;

  @Field(() => String, { description: 'Name of the environment, for example `Production`.' })
  name!: string;

  @Field(() => String, { description: 'Slug of the environment, unique in the project, for example `prod`.' })
  slug!: string;

  @Field(() => Int, { description: 'Position among the environments of the project, from 1 without gaps.' })
  position!: number;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => DateTime, { description: 'When the environment was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the environment was last changed.' })
  updatedAt!: Date;
}

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
