import { raw as sql } from '@mikro-orm/core';
import type { Rule } from '../../../kernel/authz/ability.js';
import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { findRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { type OrderedRequest, orderedPageOf } from '../../../kernel/list-order.js';
import { type KeyBounds, Page, type PageRequest, rowLimit } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import {
  isBuiltIn,
  isBuiltInForm,
  renameInRules,
  rightsBeyondChange,
  toRules,
} from '../../identity/permissions/public.js';
import { findById, lockProject, type ProjectRecord } from '../core/find-projects.js';
import { ProjectMembership } from '../core/membership.entity.js';
import type { ProjectReader } from '../core/project.reader.js';
import { listAccess, type ProjectAccess } from '../core/project-access.js';
import { ProjectRole } from './role.entity.js';
import { countsOfRoles, listRoles, renameInMemberships, rolesByIds, rolesOfProjects, toRole } from './role.queries.js';
import {
  builtInRolesOf,
  CreateRole,
  isBuiltInId,
  ListRoles,
  OneRole,
  type Role,
  RoleBySlug,
  RolePage,
  type RolePosition,
  roleCursorKey,
  rolePosition,
  UpdateRole,
} from './role.rules.js';

const CODES = {
  project_role_slug_unique: 'ROLE_SLUG_TAKEN',
  project_role_project_id_fkey: 'PROJECT_NOT_FOUND',
} as const;

/**
 * The operations on project roles. The rules of a role are read with every request of its holders, so that a change
 * applies to the next one on every node.
 */
export class RoleService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Creates a role.
   *
   * @param raw `{ projectId, slug, name, description?, permissions }`; the rules are `CreateRole`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, ROLE_SLUG_TAKEN,
   * AUDIT_UNAVAILABLE
   */
  create(ctx: Context, raw: unknown): Promise<Role> {
    const { projectId, permissions, description, ...rest } = parse(CreateRole, raw);
    const texts = { ...rest, description: description ?? '' };
    const rules = toRules(permissions);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, 'role:create');
      authorizeReach(project, 'role:create', [], rules);
      const { organizationId, projectId: id } = project;
      const made = tx.em.create(ProjectRole, { ...texts, permissions: rules, organizationId, projectId: id });
      await flush(tx, CODES);
      const role = toRole(made);
      await record(tx, 'project-role:create', role, { rules: role.rules.length });
      return role;
    });
  }

  /**
   * Updates a role: absent keeps, a list of permissions replaces the existing one. A new slug is updated in the
   * memberships of its holders, and in the conditions of rules that name it. Where a rule would still match only one of
   * the two slugs, that counts as a change of this rule.
   *
   * @param raw `{ id, projectId?, slug?, name?, description?, permissions? }`; the rules are `UpdateRole`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY (for rights before or after),
   * ROLE_NOT_FOUND, ROLE_BUILT_IN, ROLE_SLUG_TAKEN, AUDIT_UNAVAILABLE
   */
  update(ctx: Context, raw: unknown): Promise<Role> {
    const { id, projectId, ...changes } = parse(UpdateRole, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(tx, { id, projectId }, ROLE, 'role:edit');
      // Memberships that name the role are written under the same lock.
      await lockProject(tx, project);
      const stored = await lockOwn(tx, project, id);
      const { slug: from } = stored;
      const before = toRole(stored).rules;
      const given = changes.permissions === undefined ? null : toRules(changes.permissions);
      // Also for another slug or name: whoever assigns the role later relies on these.
      authorizeReach(project, 'role:edit', before, given ?? before);
      tx.em.assign(stored, {
        slug: changes.slug ?? from,
        name: changes.name ?? stored.name,
        description: changes.description === undefined ? stored.description : (changes.description ?? ''),
        // What this version cannot read stays as it is.
        ...(given === null ? {} : { permissions: given }),
        version: stored.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx, CODES);
      const { slug: to } = stored;
      let renamedIn: readonly string[] = [];
      if (to !== from) {
        await renameInMemberships(tx, { projectId: project.projectId, from, to });
        // Rules that are given with a new slug name roles by their new slugs.
        const except = given === null ? null : stored.id;
        renamedIn = await renameInRules(tx, project, { field: 'role', from, to }, except);
      }
      // Its own rules may name it.
      await tx.em.refresh(stored);
      const role = toRole(stored);
      const changed = Object.keys(changes).filter((name) => changes[name as keyof typeof changes] !== undefined);
      await record(tx, 'project-role:update', role, {
        rules: role.rules.length,
        changed: changed.sort(),
        ...(renamedIn.length > 0 && { renamedIn }),
      });
      return role;
    });
  }

  /**
   * Deletes a role that no member has.
   *
   * @param raw `{ id, projectId? }`
   * @returns the deleted role
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY,
   * ROLE_NOT_FOUND, ROLE_BUILT_IN, ROLE_IN_USE, AUDIT_UNAVAILABLE
   */
  delete(ctx: Context, raw: unknown): Promise<Role> {
    const { id, projectId } = parse(OneRole, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(tx, { id, projectId }, ROLE, 'role:delete');
      await lockProject(tx, project);
      const found = await lockOwn(tx, project, id);
      const role = toRole(found);
      // Nobody has it: its deletion does not lift what it forbids.
      authorizeReach(project, 'role:delete', role.rules, role.rules);
      const holders = await tx.em.count(ProjectMembership, {
        projectId: project.projectId,
        roles: { $contains: [role.slug] },
      });
      if (holders > 0) {
        const message = `is a role of members of the project: ${holders}`;
        throw new AppError('ROLE_IN_USE', undefined, { details: [{ path: 'id', code: 'ROLE_IN_USE', message }] });
      }
      await tx.em.remove(found).flush();
      await record(tx, 'project-role:delete', role);
      return role;
    });
  }

  /**
   * One role by ID, including built-in ones.
   *
   * @param raw `{ id, projectId? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ROLE_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<Role> {
    const { id, projectId } = parse(OneRole, raw);
    const project =
      projectId == null
        ? await loadReadable(ctx, await ownerOf(ctx, id), 'ROLE_NOT_FOUND')
        : await loadReadable(ctx, projectId);
    const builtIn = builtInOf(project).find((role) => role.id === id.toLowerCase());
    return answer(ctx, project, builtIn ?? (await findOwn(ctx, project.access, id)));
  }

  /**
   * One role by slug, including built-in ones.
   *
   * @param raw `{ projectId, slug }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ROLE_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async getBySlug(ctx: Context, raw: unknown): Promise<Role> {
    const { projectId, slug } = parse(RoleBySlug, raw);
    const project = await loadReadable(ctx, projectId);
    const builtIn = builtInOf(project).find((role) => role.slug === slug);
    return answer(ctx, project, builtIn ?? (await findOwnBySlug(ctx, project.access, slug)));
  }

  /**
   * The roles of a project: its custom roles, by slug, then the built-in ones, admin first; or in another order.
   *
   * @param raw `{ projectId, first?, after?, orderBy?, updatedSince? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<ListedRoles> {
    const { projectId, ...request } = parse(ListRoles, raw);
    const isPlain = request.orderBy == null && request.updatedSince == null;
    const after = request.orderBy == null ? rolePosition(request) : null;
    const project = await loadReadable(ctx, projectId);
    const bounds = isPlain ? { after: after?.slug ?? null, limit: rowLimit(request) } : WHOLE;
    const own = isPlain && after?.isBuiltIn === true ? [] : await ownRoles(ctx, project.access, bounds);
    const builtIn = builtInOf(project);
    const page = pageOfRoles([...own, ...builtIn], request);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-role:list',
      projectId: project.access.projectId,
      facts: { count: page.nodes.length },
    });
    const countOwn = async () => (await batched(ctx, countsOfRoles, project.access.projectId)) ?? 0;
    return { page, totalCount: async () => (await countOwn()) + builtIn.length };
  }

  /**
   * The roles of a project inside of another response. Batched over all projects of a request.
   *
   * @throws PERMISSION_DENIED
   */
  async rolesOf(ctx: Context, project: ShownProject): Promise<Role[]> {
    authorize(project.access, 'role:read');
    const own = (await batched(ctx, rolesOfProjects, project.id)) ?? [];
    return [...own, ...builtInRolesOf(project)];
  }

  /**
   * Those with these slugs, in their order. Where all are built in, nothing is read.
   *
   * @throws PERMISSION_DENIED
   */
  async rolesNamed(ctx: Context, project: ShownProject, slugs: readonly string[]): Promise<Role[]> {
    authorize(project.access, 'role:read');
    const roles = slugs.every(isBuiltIn) ? builtInRolesOf(project) : await this.rolesOf(ctx, project);
    return slugs.flatMap((slug) => roles.find((role) => role.slug === slug) ?? []);
  }

  /**
   * The same as `rolesOf`, with pages.
   *
   * @param raw `{ first?, after?, orderBy?, updatedSince? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED
   */
  async pageOf(ctx: Context, project: ShownProject, raw: unknown): Promise<ListedRoles> {
    const request = parse(RolePage, raw);
    const roles = await this.rolesOf(ctx, project);
    return { page: pageOfRoles(roles, request), totalCount: async () => roles.length };
  }
}

/** A page of roles, and the total count. */
interface ListedRoles {
  readonly page: Page<Role>;
  readonly totalCount: () => Promise<number>;
}

const WHOLE: KeyBounds = { after: null, limit: null };

/** A page of roles of a project. @param roles all of them, or those after the cursor of the request */
function pageOfRoles(roles: readonly Role[], request: OrderedRequest): Page<Role> {
  const own = (rows: readonly Role[], asked: PageRequest): Page<Role> => {
    const position = rolePosition(asked);
    return new Page(position === null ? rows : rolesAfter(rows, position), asked, roleCursorKey);
  };
  return orderedPageOf(roles, request, { orderable: (role) => role, own });
}

/** A project of a response. */
interface ShownProject {
  readonly id: string;
  readonly access: ProjectAccess;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The roles after one that may have been deleted meanwhile. */
function rolesAfter(roles: readonly Role[], { isBuiltIn, slug }: RolePosition): readonly Role[] {
  if (isBuiltIn) return roles.slice(roles.findIndex((role) => role.slug === slug) + 1);
  return roles.filter((role) => isBuiltInId(role.projectId, role.id) || role.slug > slug);
}

/** Where roles named by ID are. Built-in ones are not rows: theirs is one of the caller's projects. */
async function ownersOf(ctx: Context, { ids }: { readonly ids: readonly string[] }): Promise<{ projectId: string }[]> {
  if (!ids.some(isBuiltInForm)) return rolesByIds(ctx, ids);
  return (await listAccess(ctx)).filter(({ projectId }) => ids.some((id) => isBuiltInId(projectId, id)));
}

const ROLE = { find: ownersOf, notFound: 'ROLE_NOT_FOUND' } as const;

/** Queried in any case, as `loadOwning` does. */
async function ownerOf(ctx: Context, id: string): Promise<string> {
  const [owner] = isId(id) ? await ownersOf(ctx, { ids: [id] }) : [];
  return owner?.projectId ?? NO_ID;
}

const builtInOf = ({ access, createdAt, updatedAt }: ProjectRecord): Role[] =>
  builtInRolesOf({ id: access.projectId, createdAt, updatedAt });

/** The whole project, since its built-in roles have its creation time. */
async function loadReadable(
  ctx: Context,
  projectId: string,
  notFound: ErrorCode = 'PROJECT_NOT_FOUND',
): Promise<ProjectRecord> {
  const project = await findById(ctx, projectId);
  if (project === undefined) throw new AppError(notFound);
  authorize(project.access, 'role:read');
  return project;
}

const ownRoles = async (ctx: Context, { projectId }: ProjectAccess, bounds: KeyBounds): Promise<Role[]> =>
  (await listRoles(ctx, { projectId, ...bounds })).map(toRole);

const findOwn = async (ctx: Context, { projectId }: ProjectAccess, id: string): Promise<Role> =>
  toRole(await findRow(ctx, ProjectRole, { projectId, id }, 'ROLE_NOT_FOUND'));

async function findOwnBySlug(ctx: Context, { projectId }: ProjectAccess, slug: string): Promise<Role> {
  const role = await emOf(ctx).findOne(ProjectRole, { projectId, slug });
  if (role === null) throw new AppError('ROLE_NOT_FOUND');
  return toRole(role);
}

/** A role that can change. Whoever renames what its rules name waits. @throws ROLE_BUILT_IN, ROLE_NOT_FOUND */
async function lockOwn(tx: Transaction, project: ProjectAccess, roleId: string): Promise<ProjectRole> {
  if (isBuiltInId(project.projectId, roleId)) throw new AppError('ROLE_BUILT_IN');
  const { projectId } = project;
  return lockRow(tx, ProjectRole, { projectId, id: roleId }, 'ROLE_NOT_FOUND');
}

async function answer(ctx: Context, { access }: ProjectRecord, role: Role): Promise<Role> {
  await ctx.auditTrail.recordRead(ctx, {
    action: 'project-role:get',
    projectId: access.projectId,
    facts: { roleId: role.id },
  });
  return role;
}

/**
 * Nobody grants rights that they do not have, or changes a role that has them: its slug could be taken by another role,
 * which would then be assigned instead.
 */
function authorizeReach(
  project: ProjectAccess,
  action: 'role:create' | 'role:edit' | 'role:delete',
  before: readonly Rule[],
  after: readonly Rule[],
): void {
  const beyond = rightsBeyondChange(project.ability, before, after);
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: project.projectId }, beyond);
}

const record = (
  tx: Transaction,
  action: string,
  { id, slug, projectId }: Role,
  facts: Readonly<Record<string, number | readonly string[]>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, projectId, facts: { roleId: id, slug, ...facts } });
