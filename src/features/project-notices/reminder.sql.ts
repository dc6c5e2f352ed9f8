import { sqlStatement, t } from '../../kernel/database/statement.js';

/**
 * Takes due reminders, the longest overdue first, and moves each to its next due date: whole periods later, in the future. Skips
 * reminders locked by another node.
 */
export const takeDueReminders = sqlStatement({
  text: `
    with due as materialized (
      select secret_id, due_at from secret_reminder where due_at <= now() order by due_at, secret_id limit :most::integer
      for update skip locked
    ), moved as (
      update secret_reminder r set due_at = (due.due_at at time zone 'UTC' + make_interval(days => s.reminder_repeat_days
        * (1 + floor(extract(epoch from now() - due.due_at) / 86400 / s.reminder_repeat_days))::integer)) at time zone 'UTC'
      from due join secret s on s.id = due.secret_id where r.secret_id = due.secret_id
    )
    select s.id, s.organization_id as "organizationId", s.project_id as "projectId", s.key, s.reminder_note as note,
      s.reminder_recipient_ids as "recipientIds", e.slug as environment, f.path, to_char(due.due_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from due join secret s on s.id = due.secret_id join environment e on e.id = s.environment_id join folder f on f.id = s.folder_id`,
  params: { most: t.integer },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    key: t.text,
    note: t.nullable(t.text),
    recipientIds: t.array(t.uuid),
    environment: t.text,
    path: t.text,
    day: t.text,
  },
});
