// Two changes in one statement, and a deletion that several nodes do at once.
import { sqlStatement, t } from '../../database/statement.js';

/** The request has failed: a key without effect is free again; one whose request had effect has lost its answer. */
export const releaseKey = sqlStatement({
  text: `
    with released as (delete from idempotency_key where id = :id and fence = :fence and effective_at is null)
    update idempotency_key set answered_at = now()
    where id = :id and fence = :fence and effective_at is not null and answered_at is null`,
  params: { id: t.uuid, fence: t.integer },
  row: {},
});

/** Deletes keys past their day. Several nodes may do it at once: each others. */
export const deleteOldKeys = sqlStatement({
  text: `
    delete from idempotency_key where id in (
      select id from idempotency_key where created_at < now() - interval '24 hours' order by created_at limit 10000 for update skip locked)`,
  params: {},
  row: {},
});
