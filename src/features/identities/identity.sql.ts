import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Makes an identity a member of the project that owns it, without rights there. */
export const JOIN_PROJECT = sqlStatement({
  text: `insert into project_membership (id, organization_id, project_id, identity_id, roles)
    select :id, i.organization_id, :projectId, i.id, array['no-access'] from identity i where i.id = :identityId
    returning id`,
  params: { id: t.uuid, projectId: t.uuid, identityId: t.uuid },
  row: { id: t.uuid },
});

/** The admins of the installation, locked until the transaction ends: two that delete each other wait. */
export const LOCK_INSTALLATION_ADMINS = sqlStatement({
  text: 'select id from identity where is_installation_admin order by id for update',
  params: {},
  row: { id: t.uuid },
});

/** How many identities organizations have that belong to no project. */
export const COUNT_IDENTITIES = sqlStatement({
  text: `select i.organization_id as "organizationId", count(*)::integer as count
    from identity i where i.organization_id = any(:organizationIds) and i.project_id is null group by 1`,
  params: { organizationIds: t.array(t.uuid) },
  row: { organizationId: t.uuid, count: t.integer },
});
