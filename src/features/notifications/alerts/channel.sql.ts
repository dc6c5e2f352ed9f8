// People of memberships that a list of channels names.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Usernames of current members of projects, or of organizations, among the given users and the members of the given groups. */
export const listMemberUsernames = sqlStatement({
  text: `
    select distinct w.place, u.username from jsonb_to_recordset(:wanted::text::jsonb) as w
        (place integer, "organizationId" uuid, "projectId" uuid, "userIds" uuid[], "groupIds" uuid[])
      cross join lateral (
        select m.member_id from project_member_now m
        where m.project_id = w."projectId" and (m.member_id = any(w."userIds") or m.group_id = any(w."groupIds"))
        union
        select m.member_id from organization_member_now m
        where w."projectId" is null and m.organization_id = w."organizationId"
          and (m.member_id = any(w."userIds") or m.group_id = any(w."groupIds"))
      ) member
      join app_user u on u.id = member.member_id
    order by w.place, u.username`,
  params: { wanted: t.text },
  row: { place: t.integer, username: t.text },
});

/** The given users and groups that are currently members of the project, or without one of the organization. */
export const findMembersAmong = sqlStatement({
  text: `
    select u.id from app_user u where u.id = any(:userIds) and case when :projectId::uuid is null
      then exists (select from organization_member_now m where m.organization_id = :organizationId and m.member_id = u.id)
      else exists (select from project_member_now m where m.project_id = :projectId and m.member_id = u.id) end
    union
    select m.group_id from project_membership m where m.project_id = :projectId and m.group_id = any(:groupIds)
    union
    select m.group_id from organization_membership m
    where :projectId::uuid is null and m.organization_id = :organizationId and m.group_id = any(:groupIds)`,
  params: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    userIds: t.array(t.uuid),
    groupIds: t.array(t.uuid),
  },
  row: { id: t.uuid },
});
