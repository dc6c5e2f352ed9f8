import { sql } from 'kysely';
import type { Rule } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { UserSchema } from '../../identity/organizations/public.js';
import { readStoredRules } from '../../identity/permissions/public.js';
import type { ProjectMembershipSchema } from '../../projects/public.js';
import { AdditionalPrivilegeSchema } from './additional-privilege.entity.js';
import type { MemberKind } from './privilege.rules.js';

const tables = tablesOf<typeof AdditionalPrivilegeSchema | typeof ProjectMembershipSchema | typeof UserSchema>();

const KIND = sql<MemberKind>`case when m.user_id is null then 'identity' else 'user' end`;

const IS_IN_TERM = sql<boolean>`(v.ends_at is null or (v.starts_at <= now() and now() < v.ends_at))`;

const privileges = tables
  .selectFrom('additional_privilege as v')
  .innerJoin('project_membership as m', 'm.id', 'v.membership_id')
  .leftJoin('app_user as u', 'u.id', 'm.user_id')
  .select(columnsIn('v', AdditionalPrivilegeSchema, 'organizationId', 'permissionsDigest', 'temporaryRange'))
  .select([
    KIND.as('memberKind'),
    sql<string>`coalesce(m.user_id, m.identity_id)`.as('memberId'),
    'u.username',
    'v.temporary_range as range',
    // While its own term lasts, and while its member has an active role.
    sql<boolean>`${IS_IN_TERM}
      and exists (select from project_member_now n where n.id = v.membership_id and n.project_id = v.project_id)`.as(
      'isActive',
    ),
    IS_IN_TERM.as('isInTerm'),
  ]);

/** Privileges by ID, of any projects. */
export const findPrivileges = prepared(({ ids }: { ids: readonly string[] }) =>
  privileges.where('v.id', '=', anyOf(ids)).orderBy('v.id'),
);

/** A privilege as read from the database. */
type PrivilegeRow = Awaited<ReturnType<typeof findPrivileges>>[number];

interface NamedMember {
  readonly projectId: string;
  readonly kind: MemberKind;
  readonly memberId: string;
}

const isMember = ({ kind, memberId }: NamedMember) =>
  sql<boolean>`((${kind} = 'user' and m.user_id = ${memberId}) or (${kind} = 'identity' and m.identity_id = ${memberId}))`;

export const findPrivilegeBySlug = prepared((named: NamedMember & { slug: string }) =>
  privileges.where('v.project_id', '=', named.projectId).where('v.slug', '=', named.slug).where(isMember(named)),
);

/** Privileges of a project by slug, then ID. A null filter matches any. */
export const listPrivileges = prepared(
  (asked: { projectId: string; kind: MemberKind | null; membershipId: string | null }) =>
    privileges
      .where('v.project_id', '=', asked.projectId)
      .where(sql<boolean>`(${asked.kind}::text is null or ${asked.kind}::text = ${KIND})`)
      .where(sql<boolean>`(${asked.membershipId}::uuid is null or v.membership_id = ${asked.membershipId}::uuid)`)
      .orderBy(sql`v.slug collate "C"`)
      .orderBy('v.id'),
);

/** Privileges of memberships by slug, then ID. */
export const privilegesOfMemberships = prepared(({ membershipIds }: { membershipIds: readonly string[] }) =>
  privileges.where('v.membership_id', '=', anyOf(membershipIds)).orderBy(sql`v.slug collate "C"`).orderBy('v.id'),
);

/** The direct membership of a user or machine identity, and the current time of the database. */
export const findMember = prepared((named: NamedMember) =>
  tables
    .selectFrom('project_membership as m')
    .leftJoin('app_user as u', 'u.id', 'm.user_id')
    .select(['m.id as membershipId', 'u.username', sql<Date>`now()`.as('now')])
    .where('m.project_id', '=', named.projectId)
    .where(isMember(named)),
);

/** A privilege as read from the database. */
export interface PrivilegeView extends Omit<PrivilegeRow, 'permissions'> {
  readonly rules: readonly Rule[];
  readonly isTemporary: boolean;
}

export const toPrivilegeView = ({ permissions, ...row }: PrivilegeRow): PrivilegeView => ({
  ...row,
  rules: readStoredRules(permissions),
  isTemporary: row.range !== null,
});

/** The fields of a member for conditions of rules. Conditions on a missing name do not match. */
export const fieldsOf = (member: {
  readonly memberKind: MemberKind;
  readonly memberId: string;
  readonly username: string | null;
}): Fields => {
  if (member.memberKind === 'identity') return { identityId: member.memberId };
  return member.username === null ? {} : { username: member.username };
};
