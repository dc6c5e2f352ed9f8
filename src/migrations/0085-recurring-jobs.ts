import { Migration } from '@mikro-orm/migrations';

/** Schedules are jobs that recur, and Agenda's table is a view of all jobs. */
export class RecurringJobs extends Migration {
  override up(): void {
    for (const statement of [SCHEDULES, VIEW]) this.addSql(statement);
  }
}

const SCHEDULES = `
alter table job_kind drop column every_seconds, drop column next_at;
alter table job
  -- It recurs: when it has finished, it is due again at the next multiple of so many seconds since 1970.
  add column every_seconds integer check (every_seconds > 0),
  drop constraint job_check, drop constraint job_check1,
  add constraint job_is_due check ((wake_at is null) = (finished_at is not null and every_seconds is null)),
  add constraint job_has_finished check ((finished_at is not null) = (state in ('done', 'failed', 'cancelled')));
create unique index job_schedule_index on job (kind) where every_seconds is not null;`;

/** With the columns that Agenda's backend for Postgres reads: for its dashboard, and for whoever looks with SQL. */
const VIEW = `
drop table agenda_jobs;
create view agenda_jobs as
select j.id, j.kind::varchar(255) as name, 0 as priority, case when j.state <> 'running' then j.wake_at end as next_run_at,
  case when j.every_seconds is null then 'normal' else 'single' end::varchar(10) as type,
  case when j.state = 'running' then last.started_at end as locked_at, last.ended_at as last_finished_at,
  failure.ended_at as failed_at, case when j.state in ('waiting', 'failed') then j.attempts else 0 end as fail_count,
  failure.error_code as fail_reason, case when j.every_seconds is not null then 'UTC' end::varchar(100) as repeat_timezone,
  last.started_at as last_run_at, (j.every_seconds || ' seconds')::varchar(255) as repeat_interval, jsonb_build_object('id', j.id) as data,
  null::varchar(255) as repeat_at, k.is_paused as disabled, null::real as progress, false as fork, last.node::varchar(255) as last_modified_by,
  null::timestamptz as debounce_started_at, null::timestamptz as start_date, null::timestamptz as end_date, null::jsonb as skip_days,
  j.created_at, coalesce(last.ended_at, last.started_at, j.created_at) as updated_at
from job j join job_kind k on k.name = j.kind
left join lateral (
  select a.node, a.started_at, a.ended_at from job_attempt a where a.job_id = j.id order by a.fence desc limit 1
) last on true
left join lateral (
  select a.ended_at, a.error_code from job_attempt a where a.job_id = j.id and a.outcome = 'failed' order by a.fence desc limit 1
) failure on true;`;
