import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { EnvironmentRecord, ProjectAccess } from '../core/project.records.js';
import { ONLY_IN } from '../core/project.rules.js';
import { EnvironmentFilter, EnvironmentPage } from './environment.rules.js';

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

@InputType({ description: 'Input of `createEnvironment`.' })
export class CreateEnvironmentInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Name of the environment, for example `Production`: 1 to 64 characters.' })
  name!: string;

  @Field(() => String, {
    description:
      'Slug of the environment, for example `prod`: lowercase words joined by hyphens, 1 to 64 characters, unique in the project.',
  })
  slug!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Position of the environment, from 1; environments from there on move up. Last when absent.',
  })
  position?: number | null;
}

@ObjectType({ description: 'Result of `createEnvironment`.' })
export class CreateEnvironmentPayload {
  @Field(() => EnvironmentType, { description: 'The new environment, with an empty root folder.' })
  environment!: EnvironmentType;
}

@InputType({ description: 'Input of `updateEnvironment`. Absent fields keep their values.' })
export class UpdateEnvironmentInput {
  @Field(() => ID, { description: 'ID of the environment.' })
  id!: string;

  @Field(() => ID, ONLY_IN)
  projectId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Name of the environment, for example `Production`: 1 to 64 characters.',
  })
  name?: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Slug of the environment, for example `prod`: lowercase words joined by hyphens, 1 to 64 characters, unique in the project.',
  })
  slug?: string;

  @Field(() => Int, { nullable: true, description: 'New position, from 1; the other environments shift.' })
  position?: number;
}

@ObjectType({ description: 'Result of `updateEnvironment`.' })
export class UpdateEnvironmentPayload {
  @Field(() => EnvironmentType, { description: 'The updated environment.' })
  environment!: EnvironmentType;
}

@InputType({ description: 'Input of `deleteEnvironment`.' })
export class DeleteEnvironmentInput {
  @Field(() => ID, { description: 'ID of the environment.' })
  id!: string;

  @Field(() => ID, ONLY_IN)
  projectId?: string | null;
}

@ObjectType({ description: 'Result of `deleteEnvironment`.' })
export class DeleteEnvironmentPayload {
  @Field(() => EnvironmentType, { description: 'The deleted environment.' })
  environment!: EnvironmentType;
}
