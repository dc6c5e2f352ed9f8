const WAKE_UP = `
  insert into agenda_jobs (name, next_run_at) select 'wake-up', now() where not exists (
    select from agenda_jobs where name = 'wake-up' and locked_at is null and next_run_at <= now() + interval '1 second')`;

/** Has a node look for jobs within a second: whoever changes their rows does not wake it, and by itself it looks every five seconds. */
export const WAKE_NODE = WAKE_UP.trim();

/**
 * Makes the schedule of a kind ($1) due. Of one minute, hour or day there is one job: jobs that a schedule has queued already give up
 * their keys, so that it queues another.
 */
export const MAKE_DUE = `
  with freed as (update job set dedupe_key = id::text where kind = $1 and dedupe_key like 'scheduled %'),
    woken as (${WAKE_UP})
  update job_kind set next_at = now() where name = $1`;
