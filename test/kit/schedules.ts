/**
 * Makes the schedule of a kind ($1) due. Of one minute, hour or day there is one job: jobs that a schedule has queued already give up
 * their keys, so that it queues another.
 */
export const MAKE_DUE = `
  with freed as (update job set dedupe_key = id::text where kind = $1 and dedupe_key like 'scheduled %')
  update job_kind set next_at = now() where name = $1`;
