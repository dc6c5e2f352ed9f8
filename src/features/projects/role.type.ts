import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { Conditions } from '../../kernel/authz/conditions.js';
import { builtInProjectRoles } from '../../kernel/authz/roles.js';
import { builtInRoleId } from './project.rules.js';

/** One permission: one action on one subject. Source: specification, Permission. */
@ObjectType('Permission', { description: 'Allows, or forbids, one action on one subject.', simpleResolvers: true })
export class PermissionType {
  @Field(() => String, { description: 'What it is about, such as `secrets`.' })
  subject!: string;

  @Field(() => String, { description: 'What may be done, such as `create`.' })
  action!: string;

  @Field(() => Boolean, { description: 'True: it forbids instead. Later permissions win over earlier ones.' })
  inverted!: boolean;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Which things it holds for, by field (`environment`, `secretPath`, ...); null: all of them.',
  })
  conditions!: Conditions | null;
}

/** A role that members of a project can have. Source: specification, Project role. */
@ObjectType('ProjectRole', { description: 'A role that members of a project can have.', simpleResolvers: true })
export class ProjectRoleType {
  @Field(() => ID, { description: 'Id of the role in this project.' })
  id!: string;

  @Field(() => String, { description: 'What people read.' })
  name!: string;

  @Field(() => String, { description: 'What memberships name it by.' })
  slug!: string;

  @Field(() => String, { description: 'What its holders may do, in a sentence.' })
  description!: string;

  @Field(() => [PermissionType], { description: 'What its holders may do.' })
  permissions!: PermissionType[];

  @Field(() => Int, { description: 'Rises with every change; built-in roles stay at 1.' })
  version!: number;

  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was made; of a built-in role, when the project was.' })
  createdAt!: Date;

  @Field(() => GraphQLDateTimeISO, {
    description: 'When it was last changed; of a built-in role, when the project was.',
  })
  updatedAt!: Date;
}

const BUILT_IN = builtInProjectRoles().map(({ rules, ...role }) => ({
  ...role,
  permissions: rules.flatMap(({ subject, action, inverted = false, conditions = null }) =>
    [action].flat().map((verb): PermissionType => ({ subject, action: verb, inverted, conditions })),
  ),
}));

/** The built-in roles as a project has them, admin first. They are no rows: nothing is read. */
export const builtInRolesOf = (project: { id: string; createdAt: Date; updatedAt: Date }): ProjectRoleType[] =>
  BUILT_IN.map((role) => ({
    ...role,
    id: builtInRoleId(project.id, role.slug),
    version: 1,
    projectId: project.id,
    createdAt: project.createdAt,
    updatedAt: project.updatedAt,
  }));
