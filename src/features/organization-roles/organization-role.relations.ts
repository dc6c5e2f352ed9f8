import { authorize, can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import {
  builtInOrganizationRoles,
  builtInRoleId,
  isBuiltInForm,
  isBuiltInOfOrganization,
  ORGANIZATION_VOCABULARY,
  type PermissionRuleType,
  readStoredRules,
  toShownRules,
} from '../permissions/public.js';
import { findOrganizations, findRoles, findRolesNamed, type OrganizationRoleRow } from './organization-role.queries.js';

/** A role of an organization, its own or built in, as services pass it on. */
export interface OrganizationRoleView extends Omit<OrganizationRoleRow, 'permissions'> {
  readonly permissions: readonly PermissionRuleType[];
}

export const toRoleView = (row: OrganizationRoleRow): OrganizationRoleView => ({
  ...row,
  permissions: toShownRules(readStoredRules(row.permissions, ORGANIZATION_VOCABULARY)),
});

/** The built-in roles as an organization has them, admin first. They are no rows. */
const builtInRolesOf = (organization: { id: string; createdAt: Date; updatedAt: Date }): OrganizationRoleView[] =>
  builtInOrganizationRoles().map(({ rules, ...role }) => ({
    ...role,
    id: builtInRoleId(organization.id, role.slug),
    organizationId: organization.id,
    permissions: toShownRules(rules),
    version: 1,
    createdAt: organization.createdAt,
    updatedAt: organization.updatedAt,
  }));

/** Whoever may change sub-organizations sees their roles too, as their members. */
const scopeOf = ({ organizationId, ability }: Context) => ({
  organizationId,
  isRoot: can(ability, 'sub-organization:edit'),
});

/** The built-in roles of the caller's own organization. */
export async function ownBuiltInRoles(ctx: Context): Promise<OrganizationRoleView[]> {
  const found = await findOrganizations(ctx, { organizationId: ctx.organizationId, isRoot: false });
  return found.flatMap(builtInRolesOf);
}

/** Roles by id: of the caller's organization and, for who may edit them, of its sub-organizations. @throws PERMISSION_DENIED */
export const rolesByIds: BatchLoad<OrganizationRoleView> = async (ctx, ids) => {
  const scope = scopeOf(ctx);
  const own = await findRoles(ctx, { ...scope, ids });
  const organizations = ids.some(isBuiltInForm) ? await findOrganizations(ctx, scope) : [];
  const builtIn = organizations.flatMap(builtInRolesOf).filter(({ id }) => ids.includes(id));
  const found = [...own.map(toRoleView), ...builtIn];
  // Not of nothing: an id of this form may be that of a role of a project.
  if (found.length > 0) authorize(ctx, 'role:read');
  return new Map(found.map((role) => [role.id, role]));
};

/** What something has its role by. */
export interface RoleKey {
  readonly organizationId: string;
  readonly roleSlug: string;
}

/** Key of a role in `rolesByKeys`. */
export const roleRelationKey = ({ organizationId, roleSlug }: RoleKey): string => `${organizationId} ${roleSlug}`;

/** The roles that a response names by organization and slug. Keys are made by `roleRelationKey`. @throws PERMISSION_DENIED */
export const rolesByKeys: BatchLoad<OrganizationRoleView> = async (ctx, keys) => {
  authorize(ctx, 'role:read');
  const organizations = await findOrganizations(ctx, scopeOf(ctx));
  const slugs = [...new Set(keys.map((key) => key.slice(key.indexOf(' ') + 1)))].filter(
    (slug) => !isBuiltInOfOrganization(slug),
  );
  const organizationIds = organizations.map(({ id }) => id);
  const own = slugs.length === 0 ? [] : await findRolesNamed(ctx, { organizationIds, slugs });
  const roles = [...own.map(toRoleView), ...organizations.flatMap(builtInRolesOf)];
  return new Map(roles.map((role) => [roleRelationKey({ ...role, roleSlug: role.slug }), role]));
};
