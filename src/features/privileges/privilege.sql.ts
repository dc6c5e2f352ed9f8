import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Active while its own term lasts, and while its member has an active role. */
const IS_ACTIVE = `(v.ends_at is null or (v.starts_at <= now() and now() < v.ends_at))
    and exists (select from project_member_now n where n.id = v.membership_id and n.project_id = v.project_id)`;

const SELECT = `select v.id, v.project_id as "projectId", v.membership_id as "membershipId",
    case when m.user_id is null then 'identity' else 'user' end as "memberKind",
    coalesce(m.user_id, m.identity_id) as "memberId", u.username, v.slug, v.permissions, v.temporary_range as range,
    v.starts_at as "startsAt", v.ends_at as "endsAt", ${IS_ACTIVE} as "isActive",
    coalesce(v.ends_at <= now(), false) as "isOver", v.created_at as "createdAt", v.updated_at as "updatedAt"
  from additional_privilege v join project_membership m on m.id = v.membership_id left join app_user u on u.id = m.user_id`;

const memberKind = t.oneOf('user', 'identity');
const row = {
  id: t.uuid,
  projectId: t.uuid,
  membershipId: t.uuid,
  memberKind,
  memberId: t.uuid,
  username: t.nullable(t.text),
  slug: t.text,
  permissions: t.json,
  range: t.nullable(t.text),
  startsAt: t.nullable(t.time),
  endsAt: t.nullable(t.time),
  isActive: t.boolean,
  isOver: t.boolean,
  createdAt: t.time,
  updatedAt: t.time,
};

/** Privileges by ID, of any projects. */
export const findPrivileges = sqlStatement({
  text: `${SELECT} where v.id = any(:ids) order by v.id`,
  params: { ids: t.array(t.uuid) },
  row,
});

export const findPrivilegeBySlug = sqlStatement({
  text: `${SELECT} where v.project_id = :projectId and v.slug = :slug
    and ((:kind = 'user' and m.user_id = :memberId) or (:kind = 'identity' and m.identity_id = :memberId))`,
  params: { projectId: t.uuid, slug: t.text, kind: memberKind, memberId: t.uuid },
  row,
});

/** Privileges of a project by slug, then ID. A null filter matches any. */
export const listPrivileges = sqlStatement({
  text: `${SELECT} where v.project_id = :projectId
    and (:kind::text is null or :kind = case when m.user_id is null then 'identity' else 'user' end)
    and (:membershipId::uuid is null or v.membership_id = :membershipId)
    order by v.slug collate "C", v.id`,
  params: { projectId: t.uuid, kind: t.nullable(memberKind), membershipId: t.nullable(t.uuid) },
  row,
});

/** Privileges of memberships by slug, then ID. */
export const privilegesOfMemberships = sqlStatement({
  text: `${SELECT} where v.membership_id = any(:membershipIds) order by v.slug collate "C", v.id`,
  params: { membershipIds: t.array(t.uuid) },
  row,
});

/** The direct membership of a user or machine identity, and the current time of the database. */
export const findMember = sqlStatement({
  text: `select m.id as "membershipId", u.username, now() as now
    from project_membership m left join app_user u on u.id = m.user_id
    where m.project_id = :projectId
      and ((:kind = 'user' and m.user_id = :memberId) or (:kind = 'identity' and m.identity_id = :memberId))`,
  params: { projectId: t.uuid, kind: memberKind, memberId: t.uuid },
  row: { membershipId: t.uuid, username: t.nullable(t.text), now: t.time },
});

/** The current time of the database. */
export const presentTime = sqlStatement({ text: 'select now() as now', params: {}, row: { now: t.time } });
