import type { GraphQLResolveInfo } from 'graphql';
import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { selects } from '../../../kernel/graphql/selection.js';
import { inBothForms, PermissionRuleType, PermissionType } from '../../identity/permissions/public.js';
import { type Role, RolePage, UpdateRole } from './role.rules.js';

export const ProjectRoleType = objectType(
  'ProjectRole',
  'A role that can be assigned to members of a project.',
  {
    id: [ID, 'ID of the role in this project. A built-in role has another ID in each project.'],
    name: [String, 'Name of the role, for example `Staging reader`.'],
    slug: [String, 'Slug of the role, for example `staging-reader`. Memberships refer to roles by slug.'],
    description: [String, 'Description of the role.'],
    permissions: [[PermissionType], 'Permissions that the role grants or denies, one action each.'],
    rules: [[PermissionRuleType], 'The same permissions as rules with several actions, as they were entered.'],
    version: [Int, 'Version of the role. Increments with every change; built-in roles stay at 1.'],
    projectId: [ID, 'ID of the project.'],
    createdAt: [DateTime, 'When the role was created. Built-in roles have the time of the project.'],
    updatedAt: [DateTime, 'When the role was last changed. Built-in roles have the time of the project.'],
  },
  { implements: Node },
);
export type ProjectRoleType = InstanceType<typeof ProjectRoleType>;

export const ProjectRoleConnection = countedConnectionOf(
  ProjectRoleType,
  'ProjectRole',
  'custom roles by slug, then built-in ones, admin first',
);

/** Arguments of the roles of a project. */
export const RolePageArgs = argsType(RolePage);
export type RolePageArgs = InstanceType<typeof RolePageArgs>;

/** Whether a document selects the roles of projects. @param path from the resolving field to the projects */
export const selectsRoles = (info: GraphQLResolveInfo, path: readonly string[]): boolean =>
  ['roles', 'roleConnection'].some((field) => selects(info, [...path, field]));

/** The same, for a page of projects. */
export const pageSelectsRoles = (info: GraphQLResolveInfo): boolean =>
  selectsRoles(info, ['nodes']) || selectsRoles(info, ['edges', 'node']);

/** Converts a role to its API type. */
export const toRoleType = ({ rules, ...role }: Role): ProjectRoleType => ({ ...role, ...inBothForms(rules) });

export const UpdateProjectRoleInput = inputType(
  'UpdateProjectRoleInput',
  UpdateRole,
  'Input of `updateProjectRole`. Absent fields keep their values.',
);
