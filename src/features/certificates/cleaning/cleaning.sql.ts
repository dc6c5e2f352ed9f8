import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Settings of projects that delete expired certificates. */
export const findCleanings = sqlStatement({
  text: `select project_id as "projectId", days_after_expiry as "daysAfterExpiry" from certificate_cleaning
    where project_id = any(:projectIds)`,
  params: { projectIds: t.array(t.uuid) },
  row: { projectId: t.uuid, daysAfterExpiry: t.integer },
});

/** Projects that delete expired certificates, by ID. */
export const listCleanings = sqlStatement({
  text: `select project_id as "projectId", organization_id as "organizationId" from certificate_cleaning
    where project_id > :after order by project_id limit :most::integer`,
  params: { after: t.uuid, most: t.integer },
  row: { projectId: t.uuid, organizationId: t.uuid },
});

/** Deletes certificates of a project that expired long enough ago, oldest first. @returns the deleted ones */
export const deleteExpired = sqlStatement({
  text: `delete from certificate where id in (
      select c.id from certificate c join certificate_cleaning s on s.project_id = c.project_id
      where c.project_id = :projectId and c.not_after < now() - make_interval(days => s.days_after_expiry)
      order by c.not_after, c.id limit :most::integer for update of c)
    returning id`,
  params: { projectId: t.uuid, most: t.integer },
  row: { id: t.uuid },
});
