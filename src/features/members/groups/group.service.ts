import { raw as sql } from '@mikro-orm/core';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { newId, randomLetters } from '../../../kernel/ids.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, type CursorKey, counted } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import {
  authorizeNewName,
  authorizeRoleChange,
  authorizeRoleGrant,
  keepLoggedInAdmins,
  lockAdminsOf,
  OrganizationMembership,
  type OrganizationReader,
} from '../../identity/organizations/public.js';
import type { ProjectReader } from '../../projects/public.js';
import { Group } from './group.entity.js';
import { findGroups, type GroupInOrganizationRow, type GroupRow, listGroups, upsertRole } from './group.queries.js';
import { loadGroup, lockGroup, mayRead } from './group.reader.js';
import { CreateGroup, groupSlugFor, LinkGroup, ListGroups, OneGroup, UnlinkGroup, UpdateGroup } from './group.rules.js';
import { authorizeNewSlug, authorizeRightsOfGroup } from './group-boundary.js';

const TAKEN = { member_group_slug_unique: 'GROUP_SLUG_TAKEN' } as const;

/** Where a group is in a list. */
export const cursorKeyOf = ({ name, id }: { readonly name: string; readonly id: string }): CursorKey => [name, id];

/**
 * Groups of an organization: users and machine identities that are given roles together.
 *
 * Every method that takes `raw`, the input of its rules, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class GroupService {
  constructor(private readonly projects: ProjectReader) {}

  /** Makes a group. @throws ROLE_NOT_FOUND, PERMISSION_BOUNDARY, GROUP_SLUG_TAKEN, ORGANIZATION_NOT_FOUND (deleted at the same moment) */
  async create(ctx: Context, raw: unknown): Promise<GroupRow> {
    const { name, roleSlug: role, ...given } = parse(CreateGroup, raw);
    const slug = given.slug ?? groupSlugFor(name, randomLetters(4));
    authorize(ctx, 'groups:create', { groupSlug: slug });
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      await authorizeRoleChange(tx, { organizationId, action: 'groups:create', after: role });
      const group = tx.em.create(Group, { organizationId, name, slug });
      await flush(tx, { ...TAKEN, member_group_organization_id_fkey: 'ORGANIZATION_NOT_FOUND' });
      await setRole(tx, { organizationId, groupId: group.id, role });
      await tx.auditTrail.recordChange(tx, { action: 'group:create', facts: { groupId: group.id, slug, role } });
      return loadChanged(tx, group);
    });
  }

  /** One group. @throws GROUP_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<GroupRow> {
    const { id } = parse(OneGroup, raw);
    const group = await loadGroup(ctx, id, 'groups:read');
    await ctx.auditTrail.recordRead(ctx, { action: 'group:get', facts: { groupId: group.id } });
    return group;
  }

  /** The groups of the caller's organization, and those that are linked to it, by name, then id, or in another order. */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<GroupRow>> {
    const request = parse(ListGroups, raw);
    authorize(ctx, 'groups:read');
    const rows = await listGroups(ctx, { organizationId: ctx.organizationId });
    // Whole, since rules can leave out some of them.
    const readable = rows.filter(({ slug }) => mayRead(ctx, slug));
    const page = orderedPageOf(readable, request, { orderable: (group) => group });
    await ctx.auditTrail.recordRead(ctx, { action: 'group:list', facts: { count: page.nodes.length } });
    return counted(page, async () => readable.length);
  }

  /** Changes name, slug and role of a group. @throws GROUP_NOT_FOUND, ROLE_NOT_FOUND, PERMISSION_BOUNDARY, GROUP_SLUG_TAKEN, LAST_ADMIN */
  async update(ctx: Context, raw: unknown): Promise<GroupRow> {
    const { id, name, slug, roleSlug: role } = parse(UpdateGroup, raw);
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      const isRoleAlone = role !== undefined && name === undefined && slug === undefined;
      const isHanded = isRoleAlone && !can(tx.ability, 'groups:edit');
      const admins = await lockAdminsOf(tx, role === undefined ? [] : [organizationId]);
      const { group, row } = await lockGroup(tx, id, isHanded ? 'groups:read' : 'groups:edit');
      if (slug !== undefined) {
        authorizeNewSlug(tx, { from: row.slug, to: slug });
        await authorizeNewName(tx, { action: 'groups:edit', field: 'groupSlug', from: row.slug, to: slug });
      }
      const given = { subject: 'groups', fields: { groupSlug: row.slug } } as const;
      const handedTo = role === undefined ? null : authorizeRoleGrant(tx, 'groups:edit', given);
      if (role !== undefined && (role !== row.roleSlug || handedTo !== null)) {
        const change = { before: row.roleSlug, after: role, handedTo };
        await authorizeRoleChange(tx, { organizationId, action: 'groups:edit', ...change });
        await authorizeRightsOfGroup(tx, this.projects, { groupId: group.id, action: 'groups:edit' });
        await setRole(tx, { organizationId, groupId: group.id, role });
        await keepLoggedInAdmins(tx, admins);
      }
      tx.em.assign(group, { name: name ?? group.name, slug: slug ?? group.slug, updatedAt: sql('now()') });
      await flush(tx, TAKEN);
      await tx.auditTrail.recordChange(tx, {
        action: 'group:update',
        showsInProjects: name !== undefined || slug !== undefined,
        facts: { groupId: group.id, slug: group.slug, role: role ?? row.roleSlug },
      });
      return loadChanged(tx, group);
    });
  }

  /** Deletes a group; its memberships of organizations and projects end. @throws GROUP_NOT_FOUND, PERMISSION_BOUNDARY */
  async delete(ctx: Context, raw: unknown): Promise<GroupRow> {
    const { id } = parse(OneGroup, raw);
    return inTransaction(ctx, async (tx) => {
      const { group, row } = await lockGroup(tx, id, 'groups:delete');
      await authorizeRightsOfGroup(tx, this.projects, { groupId: group.id, action: 'groups:delete' });
      tx.em.remove(group);
      await flush(tx);
      await tx.auditTrail.recordChange(tx, {
        action: 'group:delete',
        showsInProjects: true,
        facts: { groupId: row.id, slug: row.slug },
      });
      return row;
    });
  }
}

/** A group that was just written. */
async function loadChanged(tx: Transaction, { id }: Group): Promise<GroupRow> {
  const [row] = await findGroups(tx, { organizationId: tx.organizationId, ids: [id] });
  if (row === undefined) throw new AppError('GROUP_NOT_FOUND');
  return row;
}

/** Gives a group a role in an organization. @throws ORGANIZATION_NOT_FOUND, GROUP_NOT_FOUND (deleted at the same moment) */
async function setRole(
  tx: Transaction,
  given: { readonly organizationId: string; readonly groupId: string; readonly role: string },
): Promise<{ id: string; createdAt: Date }> {
  const [row] = await withConstraintCodes(() => upsertRole(tx, { id: newId(), ...given }), {
    organization_membership_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
    organization_membership_group_id_fkey: 'GROUP_NOT_FOUND',
  });
  return row as NonNullable<typeof row>;
}

/** A group in an organization, without what only the reader needs. */
type LinkView = Omit<GroupInOrganizationRow, 'groupSlug'>;

/** A group, and where it is or shall be. */
interface LinkKey {
  readonly groupId: string;
  readonly organizationId: string;
}

/**
 * Groups of a root organization in its sub-organizations. Whoever does this may change the group, and sub-organizations.
 *
 * Both methods throw VALIDATION_FAILED, PERMISSION_DENIED, GROUP_NOT_FOUND, ORGANIZATION_NOT_FOUND, PERMISSION_BOUNDARY and
 * AUDIT_UNAVAILABLE.
 */
export class GroupLinkService {
  constructor(
    private readonly organizations: OrganizationReader,
    private readonly projects: ProjectReader,
  ) {}

  /** Links a group to a sub-organization, or gives it another role there. @throws ROLE_NOT_FOUND, LAST_ADMIN */
  async link(ctx: Context, raw: unknown): Promise<LinkView> {
    const { roleSlug, ...named } = parse(LinkGroup, raw);
    return this.#change(ctx, named, async (tx, { groupId, organizationId }) => {
      const membership = await tx.em.findOne(OrganizationMembership, { organizationId, groupId });
      const change = { before: membership?.role ?? null, after: roleSlug };
      await authorizeRoleChange(tx, { organizationId, action: 'sub-organization:edit', ...change });
      await authorizeRightsOfGroup(tx, this.projects, { groupId, action: 'sub-organization:edit' });
      const row = await setRole(tx, { organizationId, groupId, role: roleSlug });
      await tx.auditTrail.recordChange(tx, {
        action: 'group:link',
        facts: { groupId, organizationId, role: roleSlug },
      });
      return { ...row, groupId, organizationId, roleSlug };
    });
  }

  /** Ends a link, and with it the memberships of the sub-organization's projects. @throws MEMBERSHIP_NOT_FOUND */
  async unlink(ctx: Context, raw: unknown): Promise<LinkView> {
    return this.#change(ctx, parse(UnlinkGroup, raw), async (tx, { groupId, organizationId }) => {
      const membership = await tx.em.findOne(OrganizationMembership, { organizationId, groupId });
      if (membership === null) throw new AppError('MEMBERSHIP_NOT_FOUND');
      await authorizeRightsOfGroup(tx, this.projects, { groupId, action: 'sub-organization:edit' });
      const { id, role, createdAt } = membership;
      // None: the organization was deleted at the same moment.
      if ((await tx.em.nativeDelete(OrganizationMembership, { id })) === 0) throw new AppError('MEMBERSHIP_NOT_FOUND');
      await tx.auditTrail.recordChange(tx, {
        action: 'group:unlink',
        showsInProjects: true,
        facts: { groupId, organizationId, role },
      });
      return { id, createdAt, groupId, organizationId, roleSlug: role };
    });
  }

  /** Holds the group, and finds the sub-organization, for who may change both. */
  async #change(
    ctx: Context,
    named: LinkKey,
    work: (tx: Transaction, place: LinkKey) => Promise<LinkView>,
  ): Promise<LinkView> {
    authorize(ctx, 'groups:edit');
    authorize(ctx, 'sub-organization:edit');
    return inTransaction(ctx, async (tx) => {
      const admins = await lockAdminsOf(tx, [named.organizationId]);
      const { row } = await lockGroup(tx, named.groupId, 'groups:edit');
      const organization = await this.organizations.load(tx, named.organizationId);
      // Above and beside it there is nothing that it could change, and in itself a group has its role already.
      if (organization.parentId !== tx.organizationId) throw new AppError('ORGANIZATION_NOT_FOUND');
      const link = await work(tx, { groupId: row.id, organizationId: organization.id });
      await keepLoggedInAdmins(tx, admins);
      return link;
    });
  }
}
