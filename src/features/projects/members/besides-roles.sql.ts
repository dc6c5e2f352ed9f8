import { sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * What members have in a project besides the roles of a membership: whether they have roles of another membership (for
 * a group, whether one of its members has), and the stored rules of each privilege.
 */
export const BESIDES_EACH = sqlStatement({
  text: `select w.id as "memberId",
      exists (select from (
          select w.id as holder_id
          union all select coalesce(user_id, identity_id) from group_member where group_id = w.id) h
        join project_membership o on o.project_id = :projectId and coalesce(o.user_id, o.identity_id, o.group_id) <> w.id
        left join group_member g on g.group_id = o.group_id
        where h.holder_id in (o.user_id, o.identity_id, g.user_id, g.identity_id)) as "hasMore",
      (select jsonb_agg(v.permissions order by v.created_at, v.id)
        from project_membership m join additional_privilege v on v.membership_id = m.id
        where m.project_id = :projectId and coalesce(m.user_id, m.identity_id, m.group_id) = w.id) as privileges
    from unnest(:memberIds::uuid[]) as w (id)`,
  params: { projectId: t.uuid, memberIds: t.array(t.uuid) },
  row: { memberId: t.uuid, hasMore: t.boolean, privileges: t.nullable(t.json) },
});
