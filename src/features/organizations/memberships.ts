import { type Action, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Actor, Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { flush, guarded } from '../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../kernel/errors.js';
import { authorizeAccountDeletion, authorizeProjectLoss } from './boundary/account-rights.js';
import { refuseLastOrganizationAdmin } from './last-admin/admin-logins.js';
import { OrganizationMembership } from './membership.entity.js';

/** A user or a machine identity, as a member of organizations. */
export interface Member {
  readonly kind: 'user' | 'identity';
  readonly id: string;
}

const COLUMN = { user: 'user_id', identity: 'identity_id' } as const;
const TABLE = { user: 'app_user', identity: 'identity' } as const;

/** What is answered when there is no such user or identity. */
export const NOT_FOUND = { user: 'USER_NOT_FOUND', identity: 'IDENTITY_NOT_FOUND' } as const;

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
export interface HeldMembership {
  readonly role: string;
  /** Null: it has no end. */
  readonly endsAt: Date | null;
  /** It has not ended. */
  readonly isNow: boolean;
}

/** The membership of somebody in an organization; null when there is none. Nobody else changes it until the transaction ends. */
export async function lockMembership(
  tx: Transaction,
  organizationId: string,
  { kind, id }: Member,
): Promise<HeldMembership | null> {
  await lockOrganization(tx, organizationId);
  const [row] = await query<{ role: string; endsAt: string | null; isNow: boolean }>(
    tx,
    `select role, ends_at as "endsAt", coalesce(now() < ends_at, true) as "isNow" from organization_membership
     where organization_id = $1 and ${COLUMN[kind]} = $2 for update`,
    [organizationId, id],
  );
  return row === undefined ? null : { ...row, endsAt: row.endsAt === null ? null : new Date(row.endsAt) };
}

/** Whether a user or identity is a member of an organization right now, by itself or through a group. */
export async function isMemberNow(ctx: Context, organizationId: string, { id }: Member): Promise<boolean> {
  const found = await query(
    ctx,
    'select 1 from organization_member_now where organization_id = $1 and member_id = $2 limit 1',
    [organizationId, id],
  );
  return found.length > 0;
}

/** Makes a member. @returns the id of the membership @throws ALREADY_A_MEMBER; ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND (deleted at the same moment) */
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
  await lockOrganization(tx, organizationId);
  if (role !== 'admin' || endsAt instanceof Date) await refuseLastOrganizationAdmin(tx, member, organizationId);
  if (endsAt instanceof Date && (await lockProjectsOfAdmin(tx, member, organizationId)))
    await refuseLastProjectAdmin(tx, member, organizationId);
  const [changed] = await query<{ id: string }>(
    tx,
    `update organization_membership set role = $3, ends_at = case when $4 then $5::timestamptz else ends_at end, updated_at = now()
     where organization_id = $1 and ${COLUMN[member.kind]} = $2 returning id`,
    [organizationId, member.id, role, endsAt !== undefined, endsAt?.toISOString() ?? null],
  );
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
  await lockOrganization(tx, organizationId);
  await refuseLastAdmin(tx, member, organizationId);
  const [removed] = await guarded(
    () =>
      query<{ id: string }>(
        tx,
        `delete from organization_membership where organization_id = $1 and ${COLUMN[member.kind]} = $2 returning id`,
        [organizationId, member.id],
      ),
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
  await authorizeProjectLoss(tx, id, action);
  await guarded(() => query(tx, `delete from ${TABLE[kind]} where id = $1`, [id]), LAST_PROJECT_ADMIN);
}

/** Holds an account and every organization that it is a member of. @throws USER_NOT_FOUND, IDENTITY_NOT_FOUND */
export async function lockAccount(tx: Transaction, { kind, id }: Member): Promise<void> {
  // Locked first: from here on it joins no further organization.
  const held = await query(tx, `select 1 from ${TABLE[kind]} where id = $1 for update`, [id]);
  if (held.length === 0) throw new AppError(NOT_FOUND[kind]);
  // In the order of ids, so that two deletions cannot wait for each other.
  await query(
    tx,
    `select id from organization where id in (select organization_id from organization_membership where ${COLUMN[kind]} = $1)
     order by id for no key update`,
    [id],
  );
}

/**
 * Everybody who may take an admin away holds this lock first: two admins that demote each other at the same moment would
 * both still see the other one. Not `for update`: that would wait for everybody who adds a row to the organization.
 */
async function lockOrganization(tx: Transaction, organizationId: string): Promise<void> {
  await query(tx, 'select id from organization where id = $1 for no key update', [organizationId]);
}

/** @param organizationId null: in any organization */
async function refuseLastAdmin(tx: Transaction, member: Member, organizationId: string | null): Promise<void> {
  await refuseLastOrganizationAdmin(tx, member, organizationId);
  await refuseLastProjectAdmin(tx, member, organizationId);
}

/** An admin by itself and without an end in the project. */
const isAdminInProject = (membership: string): string =>
  `('admin' = any(${membership}.roles) and ${membership}.group_id is null and not coalesce(${membership}.role_terms ? 'admin', false))`;

/** The same, whose membership of the organization has no end either: as the trigger `project_keeps_an_admin` sees it. */
const isLastingInProject = (membership: string): string => `(${isAdminInProject(membership)} and exists (
  select from organization_membership l where l.organization_id = ${membership}.organization_id and l.ends_at is null
    and (l.user_id = ${membership}.user_id or l.identity_id = ${membership}.identity_id)))`;

/** A role beside it, without an end, forbids something with members: it may not be able to appoint anybody. */
const isForbiddenMembers = (membership: string): string =>
  `roles_forbid_members(${membership}.project_id, ${membership}.roles, ${membership}.role_terms)`;

/**
 * Holds the projects that a member is a lasting admin of, as the trigger does: who leaves one at the same moment sees the end.
 *
 * @returns whether there are any
 */
async function lockProjectsOfAdmin(tx: Transaction, { kind, id }: Member, organizationId: string): Promise<boolean> {
  const held = await query(
    tx,
    `select p.id from project p where p.id in (
       select m.project_id from project_membership m
       where m.${COLUMN[kind]} = $1 and m.organization_id = $2 and ${isLastingInProject('m')})
     order by p.id for no key update`,
    [id, organizationId],
  );
  return held.length > 0;
}

/**
 * Lists the projects that the caller is a member of and that its token reaches by id, and counts the others. Who stays counts
 * only if its roles let it manage members, unless those of the member do not do so either, as for the trigger.
 * Nothing is locked: if another admin leaves at the same moment, the trigger refuses instead, without details.
 */
async function refuseLastProjectAdmin(
  tx: Transaction,
  { kind, id }: Member,
  organizationId: string | null,
): Promise<void> {
  const alone = await query<{ projectId: string; isKnown: boolean }>(
    tx,
    `select m.project_id as "projectId", m.organization_id = $3 and exists (
       select 1 from project_member_now own where own.project_id = m.project_id and own.member_id = $4) as "isKnown"
     from project_membership m
     where m.${COLUMN[kind]} = $1 and ${isAdminInProject('m')} and ($2::uuid is null or m.organization_id = $2)
       and not exists (select 1 from project_membership o
                       where o.project_id = m.project_id and ${isLastingInProject('o')} and o.id <> m.id
                         and (not ${isForbiddenMembers('o')} or ${isForbiddenMembers('m')}))
     order by m.project_id`,
    [id, organizationId, tx.organizationId, tx.actor.id],
  );
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
