import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { argsType } from '../../kernel/graphql/inputs.js';
import '../../kernel/graphql/list-order.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { EnvironmentFilter, EnvironmentPage, ONLY_IN } from './environment.rules.js';
import type { EnvironmentRecord, ProjectAccess } from './project.records.js';

/** What the API shows of an environment. `access` is for field resolvers and is no field itself. */
@ObjectType('Environment', {
  implements: Node,
  description: 'A place of deployment in a project, such as production.',
  simpleResolvers: true,
})
export class EnvironmentType {
  readonly access!: ProjectAccess;

  @Field(() => ID, { description: 'ID of the environment.' })
  id!: string;

  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => String, { description: 'What programs name it by; unique in the project.' })
  slug!: string;

  @Field(() => Int, { description: 'Its place among the environments of the project, from 1 without gaps.' })
  position!: number;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
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

@InputType({ description: 'What a new environment is.' })
export class CreateEnvironmentInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, {
    description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the project.',
  })
  slug!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Its place, from 1; the ones from there on move up. Last when absent.',
  })
  position?: number | null;
}

@ObjectType({ description: 'The new environment.' })
export class CreateEnvironmentPayload {
  @Field(() => EnvironmentType, { description: 'The environment, with an empty root folder.' })
  environment!: EnvironmentType;
}

@InputType({ description: 'What changes of an environment; what is absent stays.' })
export class UpdateEnvironmentInput {
  @Field(() => ID, { description: 'ID of the environment.' })
  id!: string;

  @Field(() => ID, ONLY_IN)
  projectId?: string | null;

  @Field(() => String, { nullable: true, description: 'What people call it, 1 to 64 characters.' })
  name?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the project.',
  })
  slug?: string;

  @Field(() => Int, { nullable: true, description: 'Its new place, from 1; the others make room.' })
  position?: number;
}

@ObjectType({ description: 'The environment after the change.' })
export class UpdateEnvironmentPayload {
  @Field(() => EnvironmentType, { description: 'The environment.' })
  environment!: EnvironmentType;
}

@InputType({ description: 'The environment to delete, with everything in it.' })
export class DeleteEnvironmentInput {
  @Field(() => ID, { description: 'ID of the environment.' })
  id!: string;

  @Field(() => ID, ONLY_IN)
  projectId?: string | null;
}

@ObjectType({ description: 'The deleted environment.' })
export class DeleteEnvironmentPayload {
  @Field(() => EnvironmentType, { description: 'As it was before the deletion.' })
  environment!: EnvironmentType;
}
