import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Settings of projects that delete expired certificates. */
export const findCleanings = sqlStatement({
  text: `select project_id as "projectId", days_after_expiry as "daysAfterExpiry" from certificate_cleaning
    where project_id = any(:projectIds)`,
  params: { projectIds: t.array(t.uuid) },
  row: { projectId: t.uuid, daysAfterExpiry: t.integer },
});

/** Stores how long after expiration a project deletes certificates. */
export const storeCleaning = sqlStatement({
  text: `insert into certificate_cleaning (project_id, organization_id, days_after_expiry)
    values (:projectId, :organizationId, :daysAfterExpiry)
    on conflict (project_id) do update set days_after_expiry = excluded.days_after_expiry, updated_at = now()`,
  params: { projectId: t.uuid, organizationId: t.uuid, daysAfterExpiry: t.integer },
  row: {},
});

/** Stores that a project keeps its certificates. */
export const removeCleaning = sqlStatement({
  text: 'delete from certificate_cleaning where project_id = :projectId',
  params: { projectId: t.uuid },
  row: {},
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
