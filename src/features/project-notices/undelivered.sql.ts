import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Enabled alerts and projects by ID, with what admins of their organization need to find them. */
export const listOwnerNames = sqlStatement({
  text: `
    select a.id, a.organization_id as "organizationId", 'Certificate alert' as type, a.name, p.name as "projectName",
      to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today
    from certificate_alert a join project p on p.id = a.project_id where a.id = any(:ids) and a.is_enabled
    union all
    select a.id, a.organization_id, 'Alert of a machine identity', a.name, p.name, to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
    from identity_alert a left join project p on p.id = a.project_id where a.id = any(:ids) and a.is_enabled
    union all
    select p.id, p.organization_id, 'Project', p.name, null, to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
    from project p where p.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    type: t.text,
    name: t.text,
    projectName: t.nullable(t.text),
    today: t.text,
  },
});
