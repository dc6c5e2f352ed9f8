// Pages of many groups at once; and candidates of two kinds, of which identities are of a slice beside this one.
import { sqlStatement, t } from '../../kernel/database/statement.js';
import { NO_ID } from '../../kernel/ids.js';

const KIND = `case when gm.user_id is null then 'identity' else 'user' end`;

const MEMBERS = `select gm.id, gm.group_id as "groupId", ${KIND} as "memberKind",
    coalesce(gm.user_id, gm.identity_id) as "memberId", gm.name, gm.created_at as "joinedAt"
  from group_member gm`;

const MEMBER_ROW = {
  id: t.uuid,
  groupId: t.uuid,
  memberKind: t.oneOf('user', 'identity'),
  memberId: t.uuid,
  name: t.text,
  joinedAt: t.time,
} as const;

/** Of each kind in the order of an index, so that others are not read. */
const PAGES_OF_KINDS = ['user', 'identity'].map(
  (kind) => `(${MEMBERS} where gm.group_id = owner.id and ${KIND} = '${kind}' and '${kind}' = any(:kinds::text[])
    and (gm.name, gm.id) > (coalesce(:name::text, ''), coalesce(:id::uuid, '${NO_ID}')) order by gm.name, gm.id limit :limit::integer)`,
);

/** A page of the members of each of many groups, by name, then id: of the kinds that are named, after the row of this name and id. */
export const LIST_MEMBERS = sqlStatement({
  text: `select page.* from unnest(:groupIds::uuid[]) owner (id) cross join lateral (
    select * from (${PAGES_OF_KINDS.join(' union all ')}) member order by name, id limit :limit::integer) page`,
  params: {
    groupIds: t.array(t.uuid),
    kinds: t.array(t.text),
    name: t.nullable(t.text),
    id: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: MEMBER_ROW,
});

/**
 * Who of an organization can join a group, and who is in it already. A user of its own comes before one of the root; identities of
 * projects stay in their projects.
 */
export const CANDIDATES = sqlStatement({
  text: `select 'user' as "memberKind", u.id, u.username as name, false as "isInstallationAdmin",
      exists (select from group_member g where g.group_id = :groupId and g.user_id = u.id) as "isMember"
    from app_user u join organization_membership m on m.organization_id = :organizationId and m.user_id = u.id
    where u.id = any(:userIds) or u.username = any(:usernames) and u.id = (
      select n.id from app_user n join organization_membership o on o.organization_id = :organizationId and o.user_id = n.id
      where n.username = u.username and n.organization_id in (:organizationId, :rootOrganizationId)
      order by n.organization_id = :organizationId desc limit 1)
    union all
    select 'identity', i.id, i.name, i.is_installation_admin,
      exists (select from group_member g where g.group_id = :groupId and g.identity_id = i.id)
    from identity i join organization_membership m on m.organization_id = :organizationId and m.identity_id = i.id
    where i.id = any(:identityIds) and i.project_id is null`,
  params: {
    groupId: t.uuid,
    organizationId: t.uuid,
    rootOrganizationId: t.uuid,
    userIds: t.array(t.uuid),
    identityIds: t.array(t.uuid),
    usernames: t.array(t.text),
  },
  row: {
    memberKind: t.oneOf('user', 'identity'),
    id: t.uuid,
    name: t.text,
    isInstallationAdmin: t.boolean,
    isMember: t.boolean,
  },
});
