import { type EntityName, sql } from '@mikro-orm/core';
import { type Action, PermissionDenied } from '../../../../kernel/authz/ability.js';
import type { Actor, Context, Transaction } from '../../../../kernel/context.js';
import { flush, withConstraintCodes } from '../../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../../kernel/database/rows.js';
import { AppError, type ErrorDetail } from '../../../../kernel/errors.js';
import { authorizeAccountDeletion, authorizeRemovalFromProjects } from '../boundary/account-rights.js';
import { Identity } from '../core/identity.entity.js';
import { OrganizationMembership } from '../core/membership.entity.js';
import { lockOrganization, lockOrganizationsOf } from '../core/organization-locks.queries.js';
import { User } from '../core/user.entity.js';
import { refuseLastOrganizationAdmin } from '../last-admin/admin-logins.js';
import {
  deleteMembership,
  findMemberNow,
  findProjectsOfOnlyAdmin,
  lockDirectMembership,
  lockProjectsOfAdmin,
} from './membership.sql.js';

/** A user or a machine identity, as a member of organizations. */
export interface Member {
  readonly kind: 'user' | 'identity';
  readonly id: string;
}

/** What is answered when there is no such user or identity. */
export const NOT_FOUND = { user: 'USER_NOT_FOUND', identity: 'IDENTITY_NOT_FOUND' } as const;

/** The entity of an account. */
const accountOf = (kind: Member['kind']): EntityName<{ readonly id: string }> => (kind === 'user' ? User : Identity);

/** Memberships of projects end with that of the organization, and a trigger on them knows who is the last admin. */
const LAST_PROJECT_ADMIN = { project_keeps_an_admin: 'LAST_ADMIN' } as const;
/** More projects than this are counted. */
const MAX_PROJECTS_NAMED = 10;

/** The caller as a member. @throws Error for the system, which is a member of nothing */
export function memberOf({ kind, id }: Actor): Member {
  if (kind === 'system') throw new Error('the system is not a member of an organization');
  return { kind, id };
}

/**
 * Whoever can change the admin of the installation can become it, so nobody else may, whatever role an organization gave.
 *
 * @throws PERMISSION_DENIED
 */
export function protectInstallationAdmin(ctx: Context, account: { readonly isInstallationAdmin: boolean }): void {
  if (account.isInstallationAdmin && !ctx.actor.isInstallationAdmin) {
    throw new PermissionDenied({ action: 'identity:edit-installation-admin', projectId: null });
  }
}

/** What somebody is in an organization by itself, groups aside. */
export type DirectMembership = Awaited<ReturnType<typeof lockDirectMembership>>[number];

/** The membership of somebody in an organization; null when there is none. Nobody else changes it until the transaction ends. */
export async function lockMembership(
  tx: Transaction,
  organizationId: string,
  { id }: Member,
): Promise<DirectMembership | null> {
  await lockOrganization(tx, { organizationId });
  const [row] = await lockDirectMembership(tx, { organizationId, memberId: id });
  return row ?? null;
}

/** Whether a user or identity is a member of an organization right now, by itself or through a group. */
export async function isMemberNow(ctx: Context, organizationId: string, { id }: Member): Promise<boolean> {
  return (await findMemberNow(ctx, { organizationId, memberId: id })).length > 0;
}

/**
 * Makes a member.
 *
 * @returns the id of the membership
 * @throws ALREADY_A_MEMBER; ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND (deleted at the same moment)
 */
export async function addMember(
  tx: Transaction,
  organizationId: string,
  member: Member,
  role: string,
  endsAt: Date | null = null,
): Promise<string> {
  const membership = tx.em.create(OrganizationMembership, {
    organizationId,
    userId: member.kind === 'user' ? member.id : null,
    identityId: member.kind === 'identity' ? member.id : null,
    role,
    endsAt,
  });
  await flush(tx, {
    organization_membership_user_unique: 'ALREADY_A_MEMBER',
    organization_membership_identity_unique: 'ALREADY_A_MEMBER',
    organization_membership_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
    organization_membership_user_id_fkey: 'USER_NOT_FOUND',
    organization_membership_identity_id_fkey: 'IDENTITY_NOT_FOUND',
  });
  return membership.id;
}

/**
 * Gives a member another role, or another end. Until then it holds by itself: each request looks at it.
 *
 * @param endsAt null for none; undefined keeps
 * @returns the id of the membership
 * @throws MEMBERSHIP_NOT_FOUND, LAST_ADMIN (for an end, of a project, too)
 */
export async function changeRole(
  tx: Transaction,
  organizationId: string,
  member: Member,
  role: string,
  endsAt?: Date | null,
): Promise<string> {
  await lockOrganization(tx, { organizationId });
  if (role !== 'admin' || endsAt instanceof Date) await refuseLastOrganizationAdmin(tx, member, organizationId);
  if (endsAt instanceof Date && (await lockProjectsOfAdmin(tx, { memberId: member.id, organizationId })).length > 0)
    await refuseLastProjectAdmin(tx, member, organizationId);
  const [changed] = await tx.em
    .createQueryBuilder(OrganizationMembership)
    .update({ role, ...(endsAt === undefined ? {} : { endsAt }), updatedAt: sql`now()` })
    .where({ organizationId, [`${member.kind}Id`]: member.id })
    .returning('id')
    .execute<OrganizationMembership[]>('all');
  if (changed === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  return changed.id;
}

/**
 * Ends a membership and those of the organization's projects.
 *
 * @returns the id of the membership
 * @throws MEMBERSHIP_NOT_FOUND, LAST_ADMIN (of a project, too)
 */
export async function removeMember(tx: Transaction, organizationId: string, member: Member): Promise<string> {
  await lockOrganization(tx, { organizationId });
  await refuseLastAdmin(tx, member, organizationId);
  const [removed] = await withConstraintCodes(
    () => deleteMembership(tx, { organizationId, memberId: member.id }),
    LAST_PROJECT_ADMIN,
  );
  if (removed === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  return removed.id;
}

/**
 * Deletes a user or a machine identity with all memberships and tokens.
 *
 * @param action what the caller does, for the audit record of a refusal
 * @throws USER_NOT_FOUND, IDENTITY_NOT_FOUND, PERMISSION_BOUNDARY for who has a role in any organization or project that allows
 *   more than the caller may, LAST_ADMIN when an organization or a project would be left without an admin
 */
export async function deleteAccount(tx: Transaction, member: Member, action: Action): Promise<void> {
  const { kind, id } = member;
  await lockAccount(tx, member);
  await authorizeAccountDeletion(tx, id, action);
  // After LAST_ADMIN, which says what comes first: somebody else has to be appointed.
  await refuseLastAdmin(tx, member, null);
  await authorizeRemovalFromProjects(tx, id, action);
  await withConstraintCodes(() => tx.em.nativeDelete(accountOf(kind), { id }), LAST_PROJECT_ADMIN);
}

/** Holds an account and every organization that it is a member of. @throws USER_NOT_FOUND, IDENTITY_NOT_FOUND */
export async function lockAccount(tx: Transaction, { kind, id }: Member): Promise<void> {
  // Locked first: from here on it joins no further organization.
  await lockRow(tx, accountOf(kind), { id }, NOT_FOUND[kind]);
  await lockOrganizationsOf(tx, { memberId: id });
}

/** @param organizationId null: in any organization */
async function refuseLastAdmin(tx: Transaction, member: Member, organizationId: string | null): Promise<void> {
  await refuseLastOrganizationAdmin(tx, member, organizationId);
  await refuseLastProjectAdmin(tx, member, organizationId);
}

/**
 * Lists the projects that the caller is a member of and that its token reaches by id, and counts the others. Who stays counts
 * only if its roles let it manage members, unless those of the member do not do so either, as for the trigger.
 * Nothing is locked: if another admin leaves at the same moment, the trigger refuses instead, without details.
 */
async function refuseLastProjectAdmin(tx: Transaction, { id }: Member, organizationId: string | null): Promise<void> {
  const caller = { callerOrganizationId: tx.organizationId, callerId: tx.actor.id };
  const alone = await findProjectsOfOnlyAdmin(tx, { memberId: id, organizationId, ...caller });
  if (alone.length === 0) return;
  const named = alone.filter(({ isKnown }) => isKnown).slice(0, MAX_PROJECTS_NAMED);
  const violation = (message: string): ErrorDetail => ({ path: 'project', code: 'LAST_ADMIN', message });
  const others = alone.length - named.length;
  throw new AppError('LAST_ADMIN', undefined, {
    details: [
      ...named.map(({ projectId }) => violation(`is the only admin of project ${projectId}`)),
      ...(others === 0 ? [] : [violation(`is the only admin of projects that are not listed: ${others}`)]),
    ],
  });
}
