import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Conditions } from '../../kernel/authz/conditions.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { Role } from './role.rules.js';

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

/** A permission with all its actions. */
@ObjectType('PermissionRule', {
  description: 'Allows, or forbids, some actions on one subject.',
  simpleResolvers: true,
})
export class PermissionRuleType {
  @Field(() => String, { description: 'What it is about, such as `secrets`.' })
  subject!: string;

  @Field(() => [String], { description: 'What may be done, such as `create`.' })
  action!: string[];

  @Field(() => Boolean, { description: 'True: it forbids instead. Later rules win over earlier ones.' })
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

  @Field(() => [PermissionType], { description: 'What its holders may do, each action by itself.' })
  permissions!: PermissionType[];

  @Field(() => [PermissionRuleType], { description: 'The same as rules of several actions, as they were given.' })
  rules!: PermissionRuleType[];

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

export const ProjectRoleConnection = connectionOf(
  ProjectRoleType,
  'ProjectRole',
  'those that the project made by slug, then the built-in ones, admin first',
);

/** A role as the API shows it. */
export const toRoleType = ({ rules, ...role }: Role): ProjectRoleType => {
  const entries = rules.map(({ subject, action, inverted = false, conditions = null }) => ({
    subject,
    action: [...[action].flat()],
    inverted,
    conditions,
  }));
  return {
    ...role,
    rules: entries,
    permissions: entries.flatMap(({ action, ...rest }) => action.map((verb) => ({ ...rest, action: verb }))),
  };
};

@InputType({ description: 'A rule of a role. Later rules win over earlier ones.' })
export class PermissionInput {
  @Field(() => String, { description: 'What it is about, such as `secrets`.' })
  subject!: string;

  @Field(() => [String], { description: 'What may be done, such as `create`: one action or several.' })
  action!: string[];

  @Field(() => Boolean, { nullable: true, description: 'True: it forbids instead.' })
  inverted?: boolean | null;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Which things it holds for, by field: a text, or `$eq`, `$ne`, `$in` and `$glob`. Secrets have `environment`, `secretPath`, `secretName`, `secretTags` (`$in` only) and `eventType`; folders and imports the first two. All of them when absent.',
  })
  conditions?: Record<string, unknown> | null;
}

const RULES = 'Up to 100 rules, in order.';

@InputType({ description: 'What a new role is.' })
export class CreateProjectRoleInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => String, {
    description:
      'Lower-case words joined by hyphens, 1 to 64 characters, unique in the project; no slug of a built-in role.',
  })
  slug!: string;

  @Field(() => String, { description: 'What people read, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What its holders may do, in words, up to 1,024 characters.' })
  description?: string | null;

  @Field(() => [PermissionInput], { description: RULES })
  permissions!: PermissionInput[];
}

@ObjectType({ description: 'The new role.' })
export class CreateProjectRolePayload {
  @Field(() => ProjectRoleType, { description: 'The role.' })
  role!: ProjectRoleType;
}

@InputType({ description: 'What changes of a role; what is absent stays.' })
export class UpdateProjectRoleInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => ID, { description: 'The role.' })
  roleId!: string;

  @Field(() => String, { nullable: true, description: 'A new slug, which its holders get with it.' })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'What people read, 1 to 64 characters.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'What its holders may do, in words; null clears it.' })
  description?: string | null;

  @Field(() => [PermissionInput], { nullable: true, description: `${RULES} They replace the ones before.` })
  permissions?: PermissionInput[];
}

@ObjectType({ description: 'The role after the change.' })
export class UpdateProjectRolePayload {
  @Field(() => ProjectRoleType, { description: 'The role. What changed holds from the next request of its holders.' })
  role!: ProjectRoleType;
}

@InputType({ description: 'Which role goes. Nobody may have it.' })
export class DeleteProjectRoleInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => ID, { description: 'The role.' })
  roleId!: string;
}

@ObjectType({ description: 'The role that is gone.' })
export class DeleteProjectRolePayload {
  @Field(() => ProjectRoleType, { description: 'As it was.' })
  role!: ProjectRoleType;
}
