import type { GraphQLResolveInfo } from 'graphql';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { argsType } from '../../kernel/graphql/inputs.js';
import '../../kernel/graphql/list-order.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { selects } from '../../kernel/graphql/selection.js';
import { PermissionInput, PermissionRuleType, PermissionType, toShownRules } from '../permissions/public.js';
import { ONLY_IN } from './environment.rules.js';
import { type Role, RolePage } from './role.rules.js';

/** A role that members of a project can have. */
@ObjectType('ProjectRole', {
  implements: Node,
  description: 'A role that members of a project can have.',
  simpleResolvers: true,
})
export class ProjectRoleType {
  @Field(() => ID, { description: 'ID of the role in this project.' })
  id!: string;

  @Field(() => String, { description: 'What people call it.' })
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

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => DateTime, { description: 'When it was made; of a built-in role, when the project was.' })
  createdAt!: Date;

  @Field(() => DateTime, {
    description: 'When it was last changed; of a built-in role, when the project was.',
  })
  updatedAt!: Date;
}

export const ProjectRoleConnection = countedConnectionOf(
  ProjectRoleType,
  'ProjectRole',
  'those that the project made by slug, then the built-in ones, admin first',
);

/** Arguments of the roles of a project. */
export const RolePageArgs = argsType(RolePage);
export type RolePageArgs = InstanceType<typeof RolePageArgs>;

/** Whether a document asks for the roles of projects. @param path from the resolving field to the projects */
export const selectsRoles = (info: GraphQLResolveInfo, path: readonly string[]): boolean =>
  ['roles', 'roleConnection'].some((field) => selects(info, [...path, field]));

/** The same, for a page of projects. */
export const pageSelectsRoles = (info: GraphQLResolveInfo): boolean =>
  selectsRoles(info, ['nodes']) || selectsRoles(info, ['edges', 'node']);

/** A role as the API shows it. */
export const toRoleType = ({ rules, ...role }: Role): ProjectRoleType => {
  const shown = toShownRules(rules);
  return {
    ...role,
    rules: shown,
    permissions: shown.flatMap(({ action, ...rest }) => action.map((verb) => ({ ...rest, action: verb }))),
  };
};

const RULES = 'Up to 100 rules, in order.';

@InputType({ description: 'What a new role is.' })
export class CreateProjectRoleInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, {
    description:
      'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the project; no slug of a built-in role.',
  })
  slug!: string;

  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
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
  @Field(() => ID, { description: 'ID of the role.' })
  id!: string;

  @Field(() => ID, ONLY_IN)
  projectId?: string | null;

  @Field(() => String, { nullable: true, description: 'A new slug, which its holders get with it.' })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'What people call it, 1 to 64 characters.' })
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

@InputType({ description: 'The role to delete. Nobody may have it.' })
export class DeleteProjectRoleInput {
  @Field(() => ID, { description: 'ID of the role.' })
  id!: string;

  @Field(() => ID, ONLY_IN)
  projectId?: string | null;
}

@ObjectType({ description: 'The deleted role.' })
export class DeleteProjectRolePayload {
  @Field(() => ProjectRoleType, { description: 'As it was before the deletion.' })
  role!: ProjectRoleType;
}
