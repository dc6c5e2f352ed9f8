import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Statements about a user or a machine identity. */
const ofEach = <S>(made: (column: 'user_id' | 'identity_id', table: 'app_user' | 'identity') => S) => ({
  user: made('user_id', 'app_user'),
  identity: made('identity_id', 'identity'),
});

/** Locks a membership. `isNow`: it has not ended. */
export const LOCK_MEMBERSHIP = ofEach((column) =>
  sqlStatement({
    text: `select role, ends_at as "endsAt", coalesce(now() < ends_at, true) as "isNow" from organization_membership
      where organization_id = :organizationId and ${column} = :memberId for update`,
    params: { organizationId: t.uuid, memberId: t.uuid },
    row: { role: t.text, endsAt: t.nullable(t.time), isNow: t.boolean },
  }),
);

/** A row: somebody is a member right now, directly or through a group. */
export const findMemberNow = sqlStatement({
  text: `select 1 as one from organization_member_now
    where organization_id = :organizationId and member_id = :memberId limit 1`,
  params: { organizationId: t.uuid, memberId: t.uuid },
  row: { one: t.integer },
});

/** Gives a member another role, and another end if it is asked for. */
export const UPDATE_MEMBERSHIP = ofEach((column) =>
  sqlStatement({
    text: `update organization_membership set role = :role,
        ends_at = case when :hasEnd then :endsAt::timestamptz else ends_at end, updated_at = now()
      where organization_id = :organizationId and ${column} = :memberId returning id`,
    params: {
      organizationId: t.uuid,
      memberId: t.uuid,
      role: t.text,
      hasEnd: t.boolean,
      endsAt: t.nullable(t.time),
    },
    row: { id: t.uuid },
  }),
);

export const DELETE_MEMBERSHIP = ofEach((column) =>
  sqlStatement({
    text: `delete from organization_membership where organization_id = :organizationId and ${column} = :memberId returning id`,
    params: { organizationId: t.uuid, memberId: t.uuid },
    row: { id: t.uuid },
  }),
);

export const DELETE_ACCOUNT = ofEach((_, table) =>
  sqlStatement({ text: `delete from ${table} where id = :id`, params: { id: t.uuid }, row: {} }),
);

export const LOCK_ACCOUNT = ofEach((_, table) =>
  sqlStatement({
    text: `select id from ${table} where id = :id for update`,
    params: { id: t.uuid },
    row: { id: t.uuid },
  }),
);

/** Locks the organizations of a member, in the order of ids, so that two deletions cannot wait for each other. */
export const LOCK_ORGANIZATIONS_OF = ofEach((column) =>
  sqlStatement({
    text: `select id from organization where id in (select organization_id from organization_membership where ${column} = :memberId)
      order by id for no key update`,
    params: { memberId: t.uuid },
    row: { id: t.uuid },
  }),
);

/**
 * Everybody who may take an admin away holds this lock first: two admins that demote each other at the same moment would
 * both still see the other one. Not `for update`: that would wait for everybody who adds a row to the organization.
 */
export const lockOrganization = sqlStatement({
  text: 'select id from organization where id = :organizationId for no key update',
  params: { organizationId: t.uuid },
  row: { id: t.uuid },
});

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
export const LOCK_PROJECTS_OF_ADMIN = ofEach((column) =>
  sqlStatement({
    text: `select p.id from project p where p.id in (
         select m.project_id from project_membership m
         where m.${column} = :memberId and m.organization_id = :organizationId and ${isLastingInProject('m')})
       order by p.id for no key update`,
    params: { memberId: t.uuid, organizationId: t.uuid },
    row: { id: t.uuid },
  }),
);

/**
 * The projects, of an organization or of all, whose only admin a member is. Who stays counts only if its roles let it manage
 * members, unless those of the member do not do so either, as for the trigger. `isKnown`: the caller is a member of the project, and
 * its token reaches it.
 */
export const FIND_LED_ALONE = ofEach((column) =>
  sqlStatement({
    text: `select m.project_id as "projectId", m.organization_id = :callerOrganizationId and exists (
         select 1 from project_member_now own where own.project_id = m.project_id and own.member_id = :callerId) as "isKnown"
       from project_membership m
       where m.${column} = :memberId and ${isAdminInProject('m')} and (:organizationId::uuid is null or m.organization_id = :organizationId)
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
  }),
);
