import { type FilterQuery, raw as sql } from '@mikro-orm/core';
import { type Action, authorize, can, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfCounts } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, Page, rowLimit } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import {
  keepLoggedInAdmins,
  lockAdminsOf,
  Organization,
  OrganizationMembership,
  OrganizationRole,
} from '../../identity/organizations/public.js';
import {
  builtInOrganizationRoles,
  builtInRoleId,
  isBuiltInForm,
  isBuiltInOfOrganization,
  ORGANIZATION_ROLES,
  ORGANIZATION_VOCABULARY,
  type PermissionRuleType,
  readStoredRules,
  renameInRules,
  rightsBeyondChange,
  toRules,
  toShownRules,
} from '../../identity/permissions/public.js';
import { listRoles } from './organization-role.queries.js';
import {
  CreateOrganizationRole,
  ListOrganizationRoles,
  OneOrganizationRole,
  OrganizationRoleBySlug,
  roleKey,
  rolesAfterSlug,
  slugOfCursor,
  UpdateOrganizationRole,
} from './organization-role.rules.js';

const SLUGS = { organization_role_slug_unique: 'ROLE_SLUG_TAKEN' } as const;

/**
 * Roles of the caller's organization. What a role allows is read with every request of its holders, so that a change holds for
 * the next one on every node.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE; every change PERMISSION_BOUNDARY for rights that
 * the caller does not have, before or after.
 */
export class OrganizationRoleService {
  /** Makes a role. @throws ROLE_SLUG_TAKEN */
  create(ctx: Context, raw: unknown): Promise<OrganizationRoleView> {
    const { permissions, description, ...input } = parse(CreateOrganizationRole, raw);
    authorize(ctx, 'role:create');
    const rules = toRules(permissions);
    return inTransaction(ctx, async (tx) => {
      authorizeReach(tx, 'role:create', [], rules);
      const { organizationId } = tx;
      const role = tx.em.create(OrganizationRole, {
        ...input,
        description: description ?? '',
        permissions: rules,
        organizationId,
      });
      await flush(tx, { ...SLUGS, organization_role_organization_id_fkey: 'ORGANIZATION_NOT_FOUND' });
      await record(tx, 'organization-role:create', role, { rules: rules.length });
      return loadOwn(tx, role);
    });
  }

  /**
   * Changes a role: absent keeps, a list of permissions replaces the one before. A new slug goes to its holders with it, and into
   * the conditions of rules that name it. Where a rule would select the role by one slug and not by the other all the same, that
   * is a change of this rule.
   *
   * @throws ROLE_NOT_FOUND, ROLE_BUILT_IN, ROLE_SLUG_TAKEN, LAST_ADMIN where a group has it
   */
  update(ctx: Context, raw: unknown): Promise<OrganizationRoleView> {
    const { id, permissions, ...changes } = parse(UpdateOrganizationRole, raw);
    authorize(ctx, 'role:edit');
    return inTransaction(ctx, async (tx) => {
      const given = permissions === undefined ? null : toRules(permissions);
      const forbids = given?.some(({ inverted }) => inverted === true) ?? false;
      const admins = await lockAdminsOf(tx, forbids ? [tx.organizationId] : []);
      const role = await lockOwn(tx, id);
      const { slug: from } = role;
      const before = rulesOf(role);
      const rules = given ?? before;
      // Also for another slug or name: whoever gives the role next goes by these.
      authorizeReach(tx, 'role:edit', before, rules);
      tx.em.assign(role, {
        slug: changes.slug ?? from,
        name: changes.name ?? role.name,
        description: changes.description === undefined ? role.description : (changes.description ?? ''),
        // What this version cannot read stays as it is.
        ...(given === null ? {} : { permissions: given }),
        version: role.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx, SLUGS);
      await keepLoggedInAdmins(tx, admins);
      const { organizationId, slug: to } = role;
      let renamedIn: readonly string[] = [];
      if (to !== from) {
        const renamed = { role: to, updatedAt: sql('now()') };
        await tx.em.nativeUpdate(OrganizationMembership, { organizationId, role: from }, renamed);
        // Rules that are given with a new slug name roles as they will be.
        renamedIn = await renameInRules(tx, tx, { field: 'role', from, to }, given === null ? null : role.id);
      }
      const changed = Object.entries({ ...changes, permissions }).filter(([, value]) => value !== undefined);
      const names = changed.map(([name]) => name).sort();
      await record(tx, 'organization-role:update', role, {
        rules: rules.length,
        changed: names,
        ...(renamedIn.length > 0 && { renamedIn }),
      });
      return loadOwn(tx, role);
    });
  }

  /** Deletes a role that nobody has. @throws ROLE_NOT_FOUND, ROLE_BUILT_IN, ROLE_IN_USE */
  delete(ctx: Context, raw: unknown): Promise<OrganizationRoleView> {
    const { id } = parse(OneOrganizationRole, raw);
    authorize(ctx, 'role:delete');
    return inTransaction(ctx, async (tx) => {
      const role = await lockOwn(tx, id);
      const rules = rulesOf(role);
      // Nobody has it: what it forbids is not lifted by its deletion.
      authorizeReach(tx, 'role:delete', rules, rules);
      const { organizationId, slug } = role;
      const holder = await tx.em.findOne(OrganizationMembership, { organizationId, role: slug }, { fields: ['id'] });
      if (holder !== null) throw new AppError('ROLE_IN_USE');
      const deleted = toRoleView(role);
      tx.em.remove(role);
      await flush(tx);
      await record(tx, 'organization-role:delete', role);
      return deleted;
    });
  }

  /** One role by id, built-in ones too. @throws ROLE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<OrganizationRoleView> {
    const { id } = parse(OneOrganizationRole, raw);
    authorize(ctx, 'role:read');
    return shown(ctx, isId(id) ? await batched(ctx, rolesByIds, id.toLowerCase()) : undefined);
  }

  /** One role by slug, built-in ones too. @throws ROLE_NOT_FOUND */
  async getBySlug(ctx: Context, raw: unknown): Promise<OrganizationRoleView> {
    const { slug } = parse(OrganizationRoleBySlug, raw);
    authorize(ctx, 'role:read');
    const { organizationId } = ctx;
    if (isBuiltInOfOrganization(slug))
      return shown(
        ctx,
        (await ownBuiltInRoles(ctx)).find((role) => role.slug === slug),
      );
    const role = await emOf(ctx).findOne(OrganizationRole, { organizationId, slug });
    return shown(ctx, role === null ? undefined : toRoleView(role));
  }

  /** Those that the organization made, by slug, then the built-in ones, admin first; or in another order. */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<OrganizationRoleView>> {
    const request = parse(ListOrganizationRoles, raw);
    const isPlain = request.orderBy == null && request.updatedSince == null;
    const after = request.orderBy == null ? slugOfCursor(request) : null;
    authorize(ctx, 'role:read');
    const { organizationId } = ctx;
    const bounds = isPlain ? { after, limit: rowLimit(request) } : { after: null, limit: null };
    const isPastOwn = isPlain && after !== null && isBuiltInOfOrganization(after);
    const own = isPastOwn ? [] : await listRoles(ctx, { organizationId, ...bounds });
    const builtIn = await ownBuiltInRoles(ctx);
    const page = orderedPageOf([...own.map(toRoleView), ...builtIn], request, {
      orderable: (role) => role,
      own: (rows, asked) => new Page(rolesAfterSlug(rows, after), asked, roleKey),
    });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'organization-role:list',
      facts: { count: page.nodes.length },
    });
    const countOwn = async () => (await batched(ctx, countsOfRoles, organizationId)) ?? 0;
    return counted(page, async () => (await countOwn()) + builtIn.length);
  }
}

const countsOfRoles = batchOfCounts(OrganizationRole, 'organizationId');

async function shown(ctx: Context, role: OrganizationRoleView | undefined): Promise<OrganizationRoleView> {
  if (role === undefined) throw new AppError('ROLE_NOT_FOUND');
  await ctx.auditTrail.recordRead(ctx, { action: 'organization-role:get', facts: { roleId: role.id } });
  return role;
}

/** As it is stored now. */
async function loadOwn(tx: Transaction, role: OrganizationRole): Promise<OrganizationRoleView> {
  const stored = await tx.em.refresh(role);
  if (stored === null) throw new AppError('ROLE_NOT_FOUND');
  return toRoleView(stored);
}

/** A role that can change. Whoever gives it to somebody waits. @throws ROLE_BUILT_IN, ROLE_NOT_FOUND */
async function lockOwn(tx: Transaction, id: string): Promise<OrganizationRole> {
  const { organizationId } = tx;
  if (ORGANIZATION_ROLES.some((slug) => builtInRoleId(organizationId, slug) === id.toLowerCase()))
    throw new AppError('ROLE_BUILT_IN');
  return lockRow(tx, OrganizationRole, { id, organizationId }, 'ROLE_NOT_FOUND');
}

const rulesOf = ({ permissions }: OrganizationRole): readonly Rule[] =>
  readStoredRules(permissions, ORGANIZATION_VOCABULARY);

/** Nobody gives rights that it does not have, or touches a role that has them: its slug could be taken by another one. */
function authorizeReach(tx: Transaction, action: Action, before: readonly Rule[], after: readonly Rule[]): void {
  const beyond = rightsBeyondChange(tx.ability, before, after);
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, beyond);
}

const record = (
  tx: Transaction,
  action: string,
  { id, slug }: OrganizationRole,
  facts: Readonly<Record<string, number | readonly string[]>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, facts: { roleId: id, slug, ...facts } });

type Columns = 'id' | 'organizationId' | 'slug' | 'name' | 'description' | 'version' | 'createdAt' | 'updatedAt';

/** A role of an organization, its own or built in, as services pass it on. */
interface OrganizationRoleView extends Pick<OrganizationRole, Columns> {
  readonly permissions: readonly PermissionRuleType[];
}

const toRoleView = (row: Pick<OrganizationRole, Columns | 'permissions'>): OrganizationRoleView => ({
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
async function ownBuiltInRoles(ctx: Context): Promise<OrganizationRoleView[]> {
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
