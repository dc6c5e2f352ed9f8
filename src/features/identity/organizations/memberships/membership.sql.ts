import { sql } from 'kysely';
import { sqlStatement, t } from '../../../../kernel/database/statement.js';
import { prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { IdentitySchema } from '../core/identity.entity.js';
import type { OrganizationMembershipSchema } from '../core/membership.entity.js';
import type { UserSchema } from '../core/user.entity.js';

// Projects are of a slice that imports this one, which has no entities of theirs.

/** A user or a machine identity, as an index has it. */
const MEMBER_OF = 'coalesce(m.user_id, m.identity_id)';

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

/** Locks the projects that a member is a lasting admin of, as the trigger does: who leaves one at the same moment sees the end. */
export const lockProjectsOfAdmin = sqlStatement({
  text: `select p.id from project p where p.id in (
       select m.project_id from project_membership m
       where ${MEMBER_OF} = :memberId and m.organization_id = :organizationId and ${isLastingInProject('m')})
     order by p.id for no key update`,
  params: { memberId: t.uuid, organizationId: t.uuid },
  row: { id: t.uuid },
});

/**
 * The projects, of an organization or of all, whose only admin a member is. Who stays counts only if its roles let it manage
 * members, unless those of the member do not do so either, as for the trigger. `isKnown`: the caller is a member of the project, and
 * its token reaches it.
 */
export const findProjectsOfOnlyAdmin = sqlStatement({
  text: `select m.project_id as "projectId", m.organization_id = :callerOrganizationId and exists (
       select 1 from project_member_now own where own.project_id = m.project_id and own.member_id = :callerId) as "isKnown"
     from project_membership m
     where ${MEMBER_OF} = :memberId and ${isAdminInProject('m')} and (:organizationId::uuid is null or m.organization_id = :organizationId)
       and not exists (select 1 from project_membership o
                       where o.project_id = m.project_id and ${isLastingInProject('o')} and o.id <> m.id
                         and (not ${isForbiddenMembers('o')} or ${isForbiddenMembers('m')}))
     order by m.project_id`,
  params: {
    memberId: t.uuid,
    organizationId: t.nullable(t.uuid),
    callerOrganizationId: t.uuid,
    callerId: t.uuid,
  },
  row: { projectId: t.uuid, isKnown: t.boolean },
});

const tables = tablesOf<typeof OrganizationMembershipSchema | typeof UserSchema | typeof IdentitySchema>();

interface MembershipKey {
  readonly organizationId: string;
  readonly memberId: string;
}

/** A user or a machine identity: an index has this expression. */
const MEMBER = sql<string>`coalesce(user_id, identity_id)`;

/** Locks a membership. `isNow`: it has not ended. */
export const lockDirectMembership = prepared(({ organizationId, memberId }: MembershipKey) =>
  tables
    .selectFrom('organization_membership')
    .select(['role', 'ends_at as endsAt', sql<boolean>`coalesce(now() < ends_at, true)`.as('isNow')])
    .where('organization_id', '=', organizationId)
    .where(MEMBER, '=', memberId)
    .forUpdate(),
);

/** A row: somebody is a member right now, directly or through a group. */
export const findMemberNow = prepared(({ organizationId, memberId }: MembershipKey) =>
  tables
    .selectFrom(sql<{ organization_id: string; member_id: string }>`organization_member_now`.as('now'))
    .select('member_id')
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .limit(1),
);

export const deleteMembership = prepared(({ organizationId, memberId }: MembershipKey) =>
  tables
    .deleteFrom('organization_membership')
    .where('organization_id', '=', organizationId)
    .where(MEMBER, '=', memberId)
    .returning('id'),
);

interface Owned {
  readonly id: string;
  readonly organizationId: string;
  readonly rootOrganizationId: string;
}

/** Somebody whose account is owned by the organization or by the root above it. It is not deleted before the transaction ends. */
export const lockCandidate = {
  user: prepared(({ id, organizationId, rootOrganizationId }: Owned) =>
    tables
      .selectFrom('app_user')
      .select(['id', 'organization_id as ownerId', 'username as name', sql<boolean>`false`.as('isInstallationAdmin')])
      .where('id', '=', id)
      .where('organization_id', 'in', [organizationId, rootOrganizationId])
      .forKeyShare(),
  ),
  identity: prepared(({ id, organizationId, rootOrganizationId }: Owned) =>
    tables
      .selectFrom('identity')
      .select(['id', 'organization_id as ownerId', 'name', 'is_installation_admin as isInstallationAdmin'])
      .where('id', '=', id)
      .where('organization_id', 'in', [organizationId, rootOrganizationId])
      .where('project_id', 'is', null)
      .forKeyShare(),
  ),
} as const;
