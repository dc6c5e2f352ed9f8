import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfCounts } from '../../../kernel/database/batched.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { orderedCursorKey, orderedPageBounds, requestedOrder } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { authorizeNewName } from './boundary/account-rights.js';
import { authorizeRoleChange, authorizeRoleGrant } from './boundary/role-change.js';
import { User } from './core/user.entity.js';
import { addMember, changeRole, deleteAccount, lockMembership } from './memberships/memberships.js';
import { listUsers, type UserView } from './organization.queries.js';
import type { UserReader } from './organization.reader.js';
import { CreateUser, ListUsers, OneUser, UpdateUser } from './organization.rules.js';

const TAKEN = { app_user_username_unique: 'USERNAME_TAKEN' } as const;

/** How many users organizations have. */
const countsOfUsers = batchOfCounts(User, 'organizationId');

/** The verbs of users. A user belongs to the organization that made it; sub-organizations take it in as a member. */
export class UserService {
  constructor(private readonly users: UserReader) {}

  /**
   * Makes a user of the caller's organization.
   *
   * @param raw `{ username, roleSlug? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ROLE_NOT_FOUND, PERMISSION_BOUNDARY, USERNAME_TAKEN, ORGANIZATION_NOT_FOUND
   *   (deleted at the same moment), AUDIT_UNAVAILABLE
   */
  async create(ctx: Context, raw: unknown): Promise<UserView> {
    const { username, roleSlug: role = 'member' } = parse(CreateUser, raw);
    authorize(ctx, 'member:create');
    return inTransaction(ctx, async (tx) => {
      await authorizeRoleChange(tx, { organizationId: tx.organizationId, action: 'member:create', after: role });
      const user = tx.em.create(User, { username, organizationId: tx.organizationId });
      await flush(tx, { ...TAKEN, app_user_organization_id_fkey: 'ORGANIZATION_NOT_FOUND' });
      await addMember(tx, tx.organizationId, { kind: 'user', id: user.id }, role);
      await tx.auditTrail.recordChange(tx, { action: 'user:create', facts: { userId: user.id, role } });
      return this.users.load(tx, user.id);
    });
  }

  /**
   * One user of the caller's organization.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, USER_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<UserView> {
    const { id } = parse(OneUser, raw);
    authorize(ctx, 'member:read');
    const user = await this.users.load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, { action: 'user:get', facts: { userId: user.id } });
    return user;
  }

  /**
   * The users of the caller's organization, by username, then id.
   *
   * @param raw `{ first?, after? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<UserView>> {
    const request = parse(ListUsers, raw);
    authorize(ctx, 'member:read');
    const bounds = orderedPageBounds(request);
    const rows = await listUsers(ctx, requestedOrder(request), { organizationId: ctx.organizationId, ...bounds });
    const page = new Page(rows, request, (user) => orderedCursorKey(request, { ...user, name: user.username }));
    await ctx.auditTrail.recordRead(ctx, { action: 'user:list', facts: { count: page.nodes.length } });
    return counted(page, async () => (await batched(ctx, countsOfUsers, ctx.organizationId)) ?? 0);
  }

  /**
   * Renames a user, or gives it another role in the owning organization.
   *
   * @param raw `{ id, username?, roleSlug? }`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ROLE_NOT_FOUND, PERMISSION_BOUNDARY, USER_NOT_FOUND and MEMBERSHIP_NOT_FOUND
   *   (deleted at the same moment), USERNAME_TAKEN, LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  async update(ctx: Context, raw: unknown): Promise<UserView> {
    const { id, username, roleSlug } = parse(UpdateUser, raw);
    authorize(ctx, 'member:read');
    return inTransaction(ctx, async (tx) => {
      const user = await this.users.load(tx, id);
      if (roleSlug === undefined || username !== undefined) authorize(tx, 'member:edit');
      if (username !== undefined)
        await authorizeNewName(tx, { action: 'member:edit', field: 'username', from: user.username, to: username });
      const role = roleSlug === undefined ? user.roleSlug : await giveRole(tx, user, roleSlug);
      const change = { ...(username === undefined ? {} : { username }), updatedAt: sql('now()') };
      await withConstraintCodes(() => tx.em.nativeUpdate(User, { id: user.id }, change), TAKEN);
      await tx.auditTrail.recordChange(tx, {
        action: 'user:update',
        showsInProjects: username !== undefined,
        facts: { userId: user.id, role },
      });
      return this.users.load(tx, user.id);
    });
  }

  /**
   * Deletes a user with all memberships and tokens. Organizations and projects keep an admin.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, USER_NOT_FOUND, LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  async delete(ctx: Context, raw: unknown): Promise<UserView> {
    const { id } = parse(OneUser, raw);
    authorize(ctx, 'member:read');
    return inTransaction(ctx, async (tx) => {
      const user = await this.users.load(tx, id);
      authorize(tx, 'member:delete');
      await deleteAccount(tx, { kind: 'user', id: user.id }, 'member:delete');
      await tx.auditTrail.recordChange(tx, {
        action: 'user:delete',
        showsInProjects: true,
        facts: { userId: user.id },
      });
      return user;
    });
  }
}

/** @returns the role that the user has then */
async function giveRole(tx: Transaction, { id, organizationId, username }: UserView, role: string): Promise<string> {
  const handedTo = authorizeRoleGrant(tx, 'member:edit', { subject: 'member', fields: { username } });
  const member = { kind: 'user', id } as const;
  const before = (await lockMembership(tx, organizationId, member))?.role ?? null;
  if (before === role && handedTo === null) return role;
  await authorizeRoleChange(tx, { organizationId, action: 'member:edit', before, after: role, handedTo });
  await changeRole(tx, organizationId, member, role);
  return role;
}
