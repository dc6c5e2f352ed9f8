import type { OrganizationRole } from '../../kernel/authz/roles.js';
import type { Actor, Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { flush } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { OrganizationMembership } from './membership.entity.js';

/** A user or a machine identity, as a member of organizations. */
export interface Member {
  readonly kind: 'user' | 'identity';
  readonly id: string;
}

const COLUMN = { user: 'user_id', identity: 'identity_id' } as const;

/** The caller as a member. @throws Error for the system, which is a member of nothing */
export function memberOf({ kind, id }: Actor): Member {
  if (kind === 'system') throw new Error('the system is no member of an organization');
  return { kind, id };
}

/** The role of a member in an organization; null when it is no member. */
export async function findRole(
  ctx: Context,
  organizationId: string,
  { kind, id }: Member,
): Promise<OrganizationRole | null> {
  const [row] = await query<{ role: OrganizationRole }>(
    ctx,
    `select role from organization_membership where organization_id = $1 and ${COLUMN[kind]} = $2`,
    [organizationId, id],
  );
  return row?.role ?? null;
}

/** Makes a member. @throws ALREADY_A_MEMBER, ORGANIZATION_NOT_FOUND (deleted at the same moment) */
export async function addMember(
  tx: Transaction,
  organizationId: string,
  member: Member,
  role: OrganizationRole,
): Promise<void> {
  tx.em.create(OrganizationMembership, {
    organizationId,
    userId: member.kind === 'user' ? member.id : null,
    identityId: member.kind === 'identity' ? member.id : null,
    role,
  });
  await flush(tx, {
    organization_membership_user_unique: 'ALREADY_A_MEMBER',
    organization_membership_identity_unique: 'ALREADY_A_MEMBER',
    organization_membership_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
  });
}

/** Gives a member another role. @throws MEMBERSHIP_NOT_FOUND, LAST_ADMIN */
export async function changeRole(
  tx: Transaction,
  organizationId: string,
  member: Member,
  role: OrganizationRole,
): Promise<void> {
  await lockOrganization(tx, organizationId);
  if (role !== 'admin') await refuseLastAdmin(tx, member, organizationId);
  const changed = await query(
    tx,
    `update organization_membership set role = $3, updated_at = now() where organization_id = $1 and ${COLUMN[member.kind]} = $2 returning id`,
    [organizationId, member.id, role],
  );
  if (changed.length === 0) throw new AppError('MEMBERSHIP_NOT_FOUND');
}

/** Ends a membership. @throws MEMBERSHIP_NOT_FOUND, LAST_ADMIN */
export async function removeMember(tx: Transaction, organizationId: string, member: Member): Promise<void> {
  await lockOrganization(tx, organizationId);
  await refuseLastAdmin(tx, member, organizationId);
  const removed = await query(
    tx,
    `delete from organization_membership where organization_id = $1 and ${COLUMN[member.kind]} = $2 returning id`,
    [organizationId, member.id],
  );
  if (removed.length === 0) throw new AppError('MEMBERSHIP_NOT_FOUND');
}

/**
 * To be called before a user or an identity is deleted, with its row locked, so that it joins no further organization.
 *
 * @throws LAST_ADMIN when some organization would be left without an admin
 */
export async function refuseDeletingLastAdmin(tx: Transaction, member: Member): Promise<void> {
  // In the order of ids, so that two deletions cannot wait for each other.
  await query(
    tx,
    `select id from organization where id in (select organization_id from organization_membership where ${COLUMN[member.kind]} = $1)
     order by id for no key update`,
    [member.id],
  );
  await refuseLastAdmin(tx, member, null);
}

/**
 * Everybody who may take an admin away holds this lock first: two admins that demote each other at the same moment would
 * both still see the other one. Not `for update`: that would wait for everybody who adds a row to the organization.
 */
async function lockOrganization(tx: Transaction, organizationId: string): Promise<void> {
  await query(tx, 'select id from organization where id = $1 for no key update', [organizationId]);
}

/** @param organizationId null: in any organization */
async function refuseLastAdmin(tx: Transaction, { kind, id }: Member, organizationId: string | null): Promise<void> {
  const alone = await query(
    tx,
    `select 1 from organization_membership m
     where m.${COLUMN[kind]} = $1 and m.role = 'admin' and ($2::uuid is null or m.organization_id = $2)
       and not exists (select 1 from organization_membership o
                       where o.organization_id = m.organization_id and o.role = 'admin' and o.id <> m.id)
     limit 1`,
    [id, organizationId],
  );
  if (alone.length > 0) throw new AppError('LAST_ADMIN');
}
