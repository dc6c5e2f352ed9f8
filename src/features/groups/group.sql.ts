import { sqlStatement, t } from '../../kernel/database/statement.js';

const GROUP_ROW = {
  id: t.uuid,
  organizationId: t.uuid,
  name: t.text,
  slug: t.text,
  roleSlug: t.text,
  roleId: t.nullable(t.uuid),
  createdAt: t.time,
  updatedAt: t.time,
} as const;

const COLUMNS = `g.id, g.organization_id as "organizationId", g.name, g.slug, m.role as "roleSlug",
  (select r.id from organization_role r where r.organization_id = m.organization_id and r.slug = m.role) as "roleId",
  g.created_at as "createdAt", g.updated_at as "updatedAt"`;

/** Groups that an organization knows of, its own and those that are linked to it, with their roles in it. */
const KNOWN = `member_group g join organization_membership m on m.group_id = g.id and m.organization_id = :organizationId`;

const BY_NAME = 'order by g.name collate "C", g.id';

/** Groups by their ids, in no order. */
export const FIND_GROUPS = sqlStatement({
  text: `select ${COLUMNS} from ${KNOWN} where g.id = any(:ids)`,
  params: { organizationId: t.uuid, ids: t.array(t.uuid) },
  row: GROUP_ROW,
});

/** All groups that an organization knows of, by name. */
export const LIST_GROUPS = sqlStatement({
  text: `select ${COLUMNS} from ${KNOWN} ${BY_NAME}`,
  params: { organizationId: t.uuid },
  row: GROUP_ROW,
});

/** Of users and identities, by name. */
export const LIST_GROUPS_OF_MEMBERS = sqlStatement({
  text: `select coalesce(gm.user_id, gm.identity_id) as "memberId", ${COLUMNS}
    from ${KNOWN} join group_member gm on gm.group_id = g.id
    where coalesce(gm.user_id, gm.identity_id) = any(:memberIds) ${BY_NAME}`,
  params: { organizationId: t.uuid, memberIds: t.array(t.uuid) },
  row: { memberId: t.uuid, ...GROUP_ROW },
});

const LINK_ROW = {
  id: t.uuid,
  groupId: t.uuid,
  groupSlug: t.text,
  organizationId: t.uuid,
  roleSlug: t.text,
  createdAt: t.time,
} as const;

/** What groups are in an organization and, for who may see that, in those below it. */
const LINKS = `select m.id, g.id as "groupId", g.slug as "groupSlug", m.organization_id as "organizationId",
    m.role as "roleSlug", m.created_at as "createdAt"
  from organization_membership m join member_group g on g.id = m.group_id
  where (m.organization_id = :organizationId
    or :below and m.organization_id in (select o.id from organization o where o.parent_id = :organizationId))`;

/** Memberships of organizations by their ids, in no order. */
export const FIND_LINKS = sqlStatement({
  text: `${LINKS} and m.id = any(:ids)`,
  params: { organizationId: t.uuid, below: t.boolean, ids: t.array(t.uuid) },
  row: LINK_ROW,
});

/** Those of groups, by id. */
export const LIST_LINKS = sqlStatement({
  text: `${LINKS} and m.group_id = any(:groupIds) order by m.id`,
  params: { organizationId: t.uuid, below: t.boolean, groupIds: t.array(t.uuid) },
  row: LINK_ROW,
});

/** The role of a group in one organization. */
export const FIND_ROLE = sqlStatement({
  text: `select role from organization_membership where organization_id = :organizationId and group_id = :groupId`,
  params: { organizationId: t.uuid, groupId: t.uuid },
  row: { role: t.text },
});

/** Gives a group a role in an organization, in place of the one that it had there. */
export const SET_ROLE = sqlStatement({
  text: `insert into organization_membership (id, organization_id, group_id, role) values (:id, :organizationId, :groupId, :role)
    on conflict (organization_id, group_id) do update set role = excluded.role, updated_at = now()
    returning id, created_at as "createdAt"`,
  params: { id: t.uuid, organizationId: t.uuid, groupId: t.uuid, role: t.text },
  row: { id: t.uuid, createdAt: t.time },
});

/** Ends a membership, and those of the organization's projects. */
export const DELETE_LINK = sqlStatement({
  text: `delete from organization_membership where organization_id = :organizationId and group_id = :groupId
    returning id, created_at as "createdAt"`,
  params: { organizationId: t.uuid, groupId: t.uuid },
  row: { id: t.uuid, createdAt: t.time },
});

/**
 * The roles that a group has in organizations, and the rules of those that are not built in. Held until the transaction ends:
 * nobody gives the group another role, or a project, at the same moment.
 */
export const HELD_ROLES = sqlStatement({
  text: `select m.organization_id as "organizationId", m.role, (select r.permissions::text from organization_role r
      where r.organization_id = m.organization_id and r.slug = m.role) as permissions
    from organization_membership m where m.group_id = :groupId order by m.id for update of m`,
  params: { groupId: t.uuid },
  row: { organizationId: t.uuid, role: t.text, permissions: t.nullable(t.text) },
});
