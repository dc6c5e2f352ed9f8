/** Background work: what is to be done, who does it, what came of it, and which external systems are left alone for a while. */
export const JOBS = `
create table job_kind (
  name text primary key check (char_length(name) between 1 and 60),
  -- Null: no schedule.
  every_seconds integer check (every_seconds > 0),
  next_at timestamptz(3),
  is_paused boolean not null default false,
  check ((every_seconds is null) = (next_at is null))
);

create table job (
  id uuid primary key,
  kind text not null references job_kind (name),
  -- Null: the work of the whole installation.
  organization_id uuid references organization (id) on delete cascade,
  project_id uuid references project (id) on delete cascade,
  dedupe_key text not null check (char_length(dedupe_key) between 1 and 200),
  subject_id uuid,
  -- The external system that it calls, as its organization names it.
  target text check (char_length(target) <= 2200),
  -- Somebody waits for it.
  is_urgent boolean not null default false,
  state text not null check (state in ('waiting', 'running', 'done', 'failed', 'cancelled')),
  -- When somebody may take it: waiting, it is due then; running, its lease ends then. Null: finished.
  wake_at timestamptz(3),
  attempts integer not null default 0,
  -- Higher with each lease. Whoever writes for the job with a lower one has lost it.
  fence bigint not null default 0,
  node uuid,
  is_cancel_requested boolean not null default false,
  -- Its work was asked for while it ran: it runs once more.
  is_asked_again boolean not null default false,
  -- After this it fails for good.
  give_up_at timestamptz(3),
  -- Since when that counts: when it was due first, or was retried by hand.
  give_up_from timestamptz(3) not null default now(),
  error_code text,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  unique (kind, dedupe_key),
  check ((wake_at is null) = (state in ('done', 'failed', 'cancelled'))),
  check ((wake_at is null) = (finished_at is not null))
);
create index job_wake_index on job (kind, wake_at) where wake_at is not null;
create index job_urgent_index on job (kind, wake_at) where is_urgent and wake_at is not null;
create index job_failed_index on job (kind) where state = 'failed';
create index job_finish_index on job (finished_at) where finished_at is not null;
create index job_project_index on job (project_id);
-- Lists by age, of all states and of one.
create index job_organization_index on job (organization_id, created_at, id);
create index job_organization_state_index on job (organization_id, state, created_at, id);
create index job_installation_index on job (created_at, id) where organization_id is null;
create index job_installation_state_index on job (state, created_at, id) where organization_id is null;
-- Jobs that wait until something is as they need it.
create index job_reason_index on job (organization_id) where state = 'waiting' and error_code in ('KEY_DISABLED', 'TARGET_UNRESPONSIVE');

create table job_attempt (
  job_id uuid not null references job (id) on delete cascade,
  -- The fence of its lease.
  fence bigint not null,
  node uuid not null,
  started_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  outcome text check (outcome in ('done', 'failed', 'lost', 'released', 'cancelled')),
  error_code text,
  primary key (job_id, fence),
  check ((ended_at is null) = (outcome is null))
);

-- Agenda's jobs, as its Postgres backend states them: nodes that start at once would race for the table.
create table agenda_jobs (
  id uuid primary key default gen_random_uuid(),
  name varchar(255) not null,
  priority integer not null default 0,
  next_run_at timestamptz,
  type varchar(10) not null default 'normal' check (type in ('normal', 'single')),
  locked_at timestamptz,
  last_finished_at timestamptz,
  failed_at timestamptz,
  fail_count integer,
  fail_reason text,
  repeat_timezone varchar(100),
  last_run_at timestamptz,
  repeat_interval varchar(255),
  data jsonb default '{}',
  repeat_at varchar(255),
  disabled boolean default false,
  progress real,
  fork boolean default false,
  last_modified_by varchar(255),
  debounce_started_at timestamptz,
  start_date timestamptz,
  end_date timestamptz,
  skip_days jsonb,
  created_at timestamptz default now(),
  updated_at timestamptz default now()
);
create unique index agenda_jobs_single_job_idx on agenda_jobs (name) where type = 'single';

-- External systems that do not respond.
create table unresponsive_target (
  organization_id uuid not null references organization (id) on delete cascade,
  target text not null check (char_length(target) <= 2200),
  -- Since when no call had a response, and how often one was tried.
  since timestamptz(3) not null default now(),
  failed_at timestamptz(3) not null default now(),
  failures integer not null default 1 check (failures > 0),
  error_code text not null,
  -- Before this time nobody calls it by himself.
  next_try_at timestamptz(3) not null,
  primary key (organization_id, target)
);
`;
