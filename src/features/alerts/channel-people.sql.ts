import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Usernames of current project members among the given users and the members of the given groups. */
export const listPeopleNamed = sqlStatement({
  text: `
    select distinct w.place, u.username from jsonb_to_recordset(:wanted::text::jsonb) as w (place integer, "projectId" uuid, "userIds" uuid[], "groupIds" uuid[])
      join project_member_now m on m.project_id = w."projectId" and (m.member_id = any(w."userIds") or m.group_id = any(w."groupIds"))
      join app_user u on u.id = m.member_id
    order by w.place, u.username`,
  params: { wanted: t.text },
  row: { place: t.integer, username: t.text },
});

/** The given users and groups that are currently members of the project. */
export const listMembersNamed = sqlStatement({
  text: `
    select u.id from app_user u where u.id = any(:userIds)
      and exists (select from project_member_now m where m.project_id = :projectId and m.member_id = u.id)
    union
    select m.group_id from project_membership m where m.project_id = :projectId and m.group_id = any(:groupIds)`,
  params: { projectId: t.uuid, userIds: t.array(t.uuid), groupIds: t.array(t.uuid) },
  row: { id: t.uuid },
});
