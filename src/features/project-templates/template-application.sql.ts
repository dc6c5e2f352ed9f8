import { sqlStatement, t } from '../../kernel/database/statement.js';

const MEMBERSHIPS = `select coalesce(m.user_id, m.group_id, m.identity_id) as id, m.ends_at is not null and m.ends_at <= now() as "hasEnded"
  from organization_membership m left join identity i on i.id = m.identity_id
  where m.organization_id = :organizationId and i.project_id is null
    and (m.user_id = any(:ids) or m.group_id = any(:ids) or m.identity_id = any(:ids))`;
const OF_IDS = { params: { organizationId: t.uuid, ids: t.array(t.uuid) }, row: { id: t.uuid, hasEnded: t.boolean } };

/** Organization memberships of users, groups and identities, by ID. Identities owned by projects have none here. */
export const FIND_MEMBERSHIPS = sqlStatement({ text: MEMBERSHIPS, ...OF_IDS });

/** The same, locked: none is deleted before the transaction ends. */
export const LOCK_MEMBERSHIPS = sqlStatement({ text: `${MEMBERSHIPS} order by m.id for key share of m`, ...OF_IDS });

const PLACE = { organizationId: t.uuid, projectId: t.uuid };

/** Adds the roles of a template to a project: `[{ slug, name, rules }]`. */
export const INSERT_ROLES = sqlStatement({
  text: `insert into project_role (id, organization_id, project_id, slug, name, permissions)
    select gen_random_uuid(), :organizationId, :projectId, r.slug, r.name, r.rules
    from jsonb_to_recordset(:roles::text::jsonb) as r (slug text, name text, rules jsonb)`,
  params: { ...PLACE, roles: t.text },
  row: {},
});

/** Creates identities owned by a project: `[{ id, name }]`. */
export const INSERT_IDENTITIES = sqlStatement({
  text: `insert into identity (id, organization_id, project_id, name)
    select i.id, :organizationId, :projectId, i.name from jsonb_to_recordset(:identities::text::jsonb) as i (id uuid, name text)`,
  params: { ...PLACE, identities: t.text },
  row: {},
});

/** Adds these identities to the organization, without permissions. */
export const INSERT_ORGANIZATION_MEMBERS = sqlStatement({
  text: `insert into organization_membership (id, organization_id, identity_id, role)
    select gen_random_uuid(), :organizationId, identity_id, 'no-access' from unnest(:identityIds::uuid[]) as identity_id`,
  params: { organizationId: t.uuid, identityIds: t.array(t.uuid) },
  row: {},
});

/** Adds members to a project: `[{ userId, groupId, identityId, roles }]`, with exactly one ID each. */
export const INSERT_MEMBERS = sqlStatement({
  text: `insert into project_membership (id, organization_id, project_id, user_id, group_id, identity_id, roles)
    select gen_random_uuid(), :organizationId, :projectId, m."userId", m."groupId", m."identityId",
      array(select role from jsonb_array_elements_text(m.roles) with ordinality as held (role, at) order by at)
    from jsonb_to_recordset(:members::text::jsonb) as m ("userId" uuid, "groupId" uuid, "identityId" uuid, roles jsonb)`,
  params: { ...PLACE, members: t.text },
  row: {},
});
