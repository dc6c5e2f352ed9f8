// An order, a limit and a lock in a statement that deletes.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

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
