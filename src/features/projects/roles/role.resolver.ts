import type { GraphQLResolveInfo } from 'graphql';
import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import {
  PermissionRuleType,
  PermissionType,
  permissionsText,
  shownRulesText,
  toRuleForms,
  withPermissions,
} from '../../identity/permissions/public.js';
import { CreateRole, ListRoles, OneRole, type Role, RoleBySlug, RolePage, UpdateRole } from './role.rules.js';
import type { RoleService } from './role.service.js';
import '../../../kernel/graphql/list-order.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { selectsField } from '../../../kernel/graphql/selection.js';

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

export const ProjectRoleConnection = connectionOf(
  ProjectRoleType,
  'ProjectRole',
  'custom roles by slug, then built-in ones, admin first',
);

/** Arguments of the roles of a project. */
export const RolePageArgs = argsType(RolePage);
export type RolePageArgs = InstanceType<typeof RolePageArgs>;

/** Whether a document selects the roles of the projects of a page. */
export const pageSelectsRoles = (info: GraphQLResolveInfo): boolean =>
  selectsField(info, ['nodes', 'roles']) || selectsField(info, ['edges', 'node', 'roles']);

/** Converts a role to its API type. */
export const toRoleType = ({ rules, ...role }: Role): ProjectRoleType => ({ ...role, ...toRuleForms(rules) });

const UpdateProjectRoleInput = inputType(
  'UpdateProjectRoleInput',
  UpdateRole,
  'Input of `updateProjectRole`. Absent fields keep their values.',
);

@Resolver(() => ProjectRoleType)
export class RoleResolver {
  constructor(private readonly roles: RoleService) {}

  @query(
    ProjectRoleConnection,
    ListRoles,
    'Lists the roles of a project: its custom roles, ordered by slug, then the built-in ones, admin first.',
  )
  async projectRoles(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectRoleType>> {
    const { page, totalCount } = await this.roles.list(ctx, args);
    return counted(page.show(toRoleType), totalCount);
  }

  @query(ProjectRoleType, OneRole, 'Returns a role by ID, including built-in ones.')
  async projectRole(ctx: Context, args: object): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.get(ctx, args));
  }

  @query(ProjectRoleType, RoleBySlug, 'Returns a role of a project by slug, including built-in ones.')
  async projectRoleBySlug(ctx: Context, args: object): Promise<ProjectRoleType> {
    return toRoleType(await this.roles.getBySlug(ctx, args));
  }

  @creation(
    CreateRole,
    { role: [ProjectRoleType, 'The new role.'] },
    'Creates a role of a project. It cannot grant more than your own permissions.',
    {
      find: (roles: RoleResolver, ctx, { projectId, slug }) => roles.projectRoleBySlug(ctx, { projectId, slug }),
      taken: 'ROLE_SLUG_TAKEN',
      toRules: withPermissions,
      compare: { permissions: { of: ({ rules }) => shownRulesText(rules), as: permissionsText } },
    },
  )
  async createProjectRole(ctx: Context, input: object): Promise<{ role: ProjectRoleType }> {
    return { role: toRoleType(await this.roles.create(ctx, withPermissions(input))) };
  }

  @mutation(
    UpdateProjectRoleInput,
    { role: [ProjectRoleType, 'The updated role. The change applies from the next request of each holder.'] },
    'Updates a role of a project. The change applies from the next request of each holder. The role cannot grant ' +
      'more than your own permissions, before or after.',
  )
  async updateProjectRole(ctx: Context, input: object): Promise<{ role: ProjectRoleType }> {
    return { role: toRoleType(await this.roles.update(ctx, withPermissions(input))) };
  }

  @mutation(
    OneRole,
    { role: [ProjectRoleType, 'The deleted role.'] },
    'Deletes a role of a project. Fails while a member has it.',
  )
  async deleteProjectRole(ctx: Context, input: object): Promise<{ role: ProjectRoleType }> {
    return { role: toRoleType(await this.roles.delete(ctx, input)) };
  }
}
