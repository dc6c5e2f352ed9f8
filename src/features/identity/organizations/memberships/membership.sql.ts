// Projects are of a slice that imports this one, which has no entities of theirs.
import { sqlStatement, t } from '../../../../kernel/database/statement.js';

/** A user or a machine identity, as an index has it. */
const MEMBER = 'coalesce(m.user_id, m.identity_id)';

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
       where ${MEMBER} = :memberId and m.organization_id = :organizationId and ${isLastingInProject('m')})
     order by p.id for no key update`,
  params: { memberId: t.uuid, organizationId: t.uuid },
  row: { id: t.uuid },
});

/**
 * The projects, of an organization or of all, whose only admin a member is. Who stays counts only if its roles let it manage
 * members, unless those of the member do not do so either, as for the trigger. `isKnown`: the caller is a member of the project, and
 * its token reaches it.
 */
export const findLedAlone = sqlStatement({
  text: `select m.project_id as "projectId", m.organization_id = :callerOrganizationId and exists (
       select 1 from project_member_now own where own.project_id = m.project_id and own.member_id = :callerId) as "isKnown"
     from project_membership m
     where ${MEMBER} = :memberId and ${isAdminInProject('m')} and (:organizationId::uuid is null or m.organization_id = :organizationId)
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
