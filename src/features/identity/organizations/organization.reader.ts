import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { loadRow } from '../../../kernel/database/rows.js';
import type { Member } from './memberships/memberships.js';
import {
  countMembersOfOrganizations,
  findMembers,
  findOrganizations,
  findUsers,
  lockSubOrganization,
  type OrganizationView,
  type UserView,
} from './organization.queries.js';

/** What other slices may ask about organizations. */
export class OrganizationReader {
  /**
   * An organization that the scope of the caller can see: itself, its root, and below a root the sub-organizations.
   *
   * @throws ORGANIZATION_NOT_FOUND
   */
  load(ctx: Context, id: string): Promise<OrganizationView> {
    const { organizationId, rootOrganizationId } = ctx;
    return loadRow(ctx, findOrganizations, { ids: [id], organizationId, rootOrganizationId }, 'ORGANIZATION_NOT_FOUND');
  }

  /**
   * The sub-organization of a root organization by its slug. It stays there until the transaction ends.
   *
   * @throws ORGANIZATION_NOT_FOUND
   */
  loadSubOrganization(tx: Transaction, rootOrganizationId: string, slug: string): Promise<{ id: string }> {
    return loadRow(tx, lockSubOrganization, { rootOrganizationId, slug }, 'ORGANIZATION_NOT_FOUND');
  }
}

/** What other slices may ask about users. */
export class UserReader {
  /** A user of the organization that the caller's token is scoped to. @throws USER_NOT_FOUND */
  load(ctx: Context, id: string): Promise<UserView> {
    return loadRow(ctx, findUsers, { ids: [id], organizationId: ctx.organizationId }, 'USER_NOT_FOUND');
  }
}

/** Organizations that answers lead to by their ids: those that the scope of the caller can see. @throws PERMISSION_DENIED */
export const organizationsByIds: BatchLoad<OrganizationView> = async (ctx, ids) => {
  authorize(ctx, 'organization:read');
  return organizationsInScope(ctx, ids);
};

/** The organization of the caller's token, which it may know of whatever its rights. */
export const ownOrganization = async (ctx: Context): Promise<OrganizationView | null> =>
  (await organizationsInScope(ctx, [ctx.organizationId])).get(ctx.organizationId) ?? null;

/** Users that answers lead to by their ids: those of the caller's organization. @throws PERMISSION_DENIED */
export const usersByIds: BatchLoad<UserView> = async (ctx, ids) => {
  authorize(ctx, 'member:read');
  return usersInScope(ctx, ids);
};

/** The user that calls, who may know of itself whatever its rights. */
export const ownUser = async (ctx: Context): Promise<UserView | null> =>
  (await usersInScope(ctx, [ctx.actor.id])).get(ctx.actor.id) ?? null;

async function organizationsInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, OrganizationView>> {
  const { organizationId, rootOrganizationId } = ctx;
  const rows = await findOrganizations(ctx, { ids, organizationId, rootOrganizationId });
  return new Map(rows.map((row) => [row.id, row]));
}

async function usersInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, UserView>> {
  const rows = await findUsers(ctx, { ids, organizationId: ctx.organizationId });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A member of an organization as services pass it on. */
export interface MemberView {
  readonly id: string;
  readonly memberKind: Member['kind'];
  readonly memberId: string;
  readonly name: string;
  readonly organizationId: string;
  readonly roleSlug: string;
  readonly endsAt: Date | null;
}

/** How many members organizations have, by their ids. */
export const countMembers: BatchLoad<number> = async (ctx, organizationIds) => {
  const rows = await countMembersOfOrganizations(ctx, { organizationIds });
  return new Map(rows.map(({ organizationId, count }) => [organizationId, count]));
};

/** Memberships by id, for who may read members. @throws PERMISSION_DENIED */
export const membersByIds: BatchLoad<MemberView> = async (ctx, ids) => {
  authorize(ctx, 'member:read');
  return membersInScope(ctx, ids);
};

/** Memberships by id: of the caller's organization and, for who may edit them, of its sub-organizations. */
export async function membersInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, MemberView>> {
  const isBelowToo = can(ctx.ability, 'sub-organization:edit');
  const rows = await findMembers(ctx, { ids, organizationId: ctx.organizationId, isBelowToo });
  return new Map(rows.map((row) => [row.id, row]));
}
