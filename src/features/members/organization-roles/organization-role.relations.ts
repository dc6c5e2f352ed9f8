import type { FilterQuery } from '@mikro-orm/core';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { Organization, OrganizationRole } from '../../identity/organizations/public.js';
import {
  builtInOrganizationRoles,
  builtInRoleId,
  isBuiltInForm,
  isBuiltInOfOrganization,
  ORGANIZATION_VOCABULARY,
  type PermissionRuleType,
  readStoredRules,
  toShownRules,
} from '../../identity/permissions/public.js';

type Columns = 'id' | 'organizationId' | 'slug' | 'name' | 'description' | 'version' | 'createdAt' | 'updatedAt';

/** A role of an organization, its own or built in, as services pass it on. */
export interface OrganizationRoleView extends Pick<OrganizationRole, Columns> {
  readonly permissions: readonly PermissionRuleType[];
}

export const toRoleView = (row: Pick<OrganizationRole, Columns | 'permissions'>): OrganizationRoleView => ({
  id: row.id,
  organizationId: row.organizationId,
  slug: row.slug,
  name: row.name,
  description: row.description,
  version: row.version,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
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

/** The caller's organization. Whoever may change sub-organizations sees their roles too, as their members. */
const scopeOf = ({ organizationId: id, ability }: Context): FilterQuery<Organization> =>
  can(ability, 'sub-organization:edit') ? { $or: [{ id }, { parentId: id }] } : { id };

/** The built-in roles of the caller's own organization. */
export async function ownBuiltInRoles(ctx: Context): Promise<OrganizationRoleView[]> {
  const found = await emOf(ctx).find(Organization, { id: ctx.organizationId });
  return found.flatMap(builtInRolesOf);
}

/** Roles by id: of the caller's organization and, for who may edit them, of its sub-organizations. @throws PERMISSION_DENIED */
export const rolesByIds: BatchLoad<OrganizationRoleView> = async (ctx, ids) => {
  const em = emOf(ctx);
  const own = await em.find(OrganizationRole, { id: { $in: ids }, organization: scopeOf(ctx) });
  const organizations = ids.some(isBuiltInForm) ? await em.find(Organization, scopeOf(ctx)) : [];
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
  const em = emOf(ctx);
  const organizations = await em.find(Organization, scopeOf(ctx));
  const slugs = [...new Set(keys.map((key) => key.slice(key.indexOf(' ') + 1)))].filter(
    (slug) => !isBuiltInOfOrganization(slug),
  );
  const organizationIds = organizations.map(({ id }) => id);
  const named = { organizationId: { $in: organizationIds }, slug: { $in: slugs } };
  const own = slugs.length === 0 ? [] : await em.find(OrganizationRole, named);
  const roles = [...own.map(toRoleView), ...organizations.flatMap(builtInRolesOf)];
  return new Map(roles.map((role) => [roleRelationKey({ ...role, roleSlug: role.slug }), role]));
};
