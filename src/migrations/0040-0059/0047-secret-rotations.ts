import { Migration } from '@mikro-orm/migrations';

/** Rotations of secrets, their credentials and attempts, and credentials that are still to be revoked. */
export class SecretRotations extends Migration {
  override up(): void {
    for (const statement of [ROTATIONS, CREDENTIALS, ATTEMPTS, DEBTS]) this.addSql(statement);
  }
}

/** Environments, folders and connections are held by their rotations, but go with their project. */
const ROTATIONS = `
create table secret_rotation (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id),
  folder_id uuid not null references folder(id),
  connection_id uuid not null references app_connection(id),
  type text not null check (type in ('datatool-service-token', 'hostos-local-account')),
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 256),
  parameters jsonb not null,
  secrets_mapping jsonb not null,
  is_auto_rotation_enabled boolean not null,
  rotation_interval integer not null check (rotation_interval >= 1),
  rotate_at_hours integer not null check (rotate_at_hours between 0 and 23),
  rotate_at_minutes integer not null check (rotate_at_minutes between 0 and 59),
  schedule jsonb not null,
  status text not null check (status in ('success', 'failed', 'in_progress', 'needs_reconciliation', 'deleting')),
  active_index integer not null default 0 check (active_index in (0, 1)),
  generation integer not null default 0,
  attempts integer not null default 0,
  failures integer not null default 0,
  refusals integer not null default 0,
  pause_reason text,
  last_attempt_id uuid,
  last_attempted_at timestamptz(3),
  last_rotated_at timestamptz(3),
  is_last_manual boolean not null default true,
  next_rotation_at timestamptz(3),
  requested_at timestamptz(3),
  requester_kind text check (requester_kind in ('identity', 'user')),
  requester_id uuid,
  is_deleting_secrets boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint secret_rotation_name_unique unique (folder_id, name)
);
create index secret_rotation_project_index on secret_rotation (project_id);
create index secret_rotation_organization_index on secret_rotation (organization_id);
create index secret_rotation_environment_index on secret_rotation (environment_id);
create index secret_rotation_connection_index on secret_rotation (connection_id);
create index secret_rotation_due_index on secret_rotation (next_rotation_at)
  where is_auto_rotation_enabled and pause_reason is null and status in ('success', 'failed');
create index secret_rotation_requested_index on secret_rotation (requested_at) where requested_at is not null;`;

const CREDENTIALS = `
create table secret_rotation_credential (
  rotation_id uuid not null references secret_rotation(id) on delete cascade,
  slot integer not null check (slot in (0, 1)),
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  generation integer not null,
  credential_sealed bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (rotation_id, slot)
);
create index secret_rotation_credential_project_index on secret_rotation_credential (project_id);
create index secret_rotation_credential_organization_index on secret_rotation_credential (organization_id);`;

const ATTEMPTS = `
create table secret_rotation_attempt (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  -- What came of a creation that failed is asked for when the rotation is gone.
  rotation_id uuid references secret_rotation(id) on delete set null,
  number integer not null,
  reason text not null check (reason in ('creation', 'adoption', 'schedule', 'manual', 'reconciliation')),
  state text not null check (state in ('planned', 'calling', 'changed', 'verified', 'succeeded', 'failed', 'cancelled', 'undecided')),
  calls integer not null default 0,
  candidate_version integer not null default 0,
  name text not null,
  candidate_sealed bytea not null,
  result_sealed bytea,
  temporary_sealed bytea,
  exclusive bytea,
  called_at timestamptz(3),
  tries integer not null default 0,
  error_code text,
  message_sealed bytea,
  actor_kind text not null check (actor_kind in ('identity', 'user', 'system')),
  actor_id uuid not null,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  constraint secret_rotation_attempt_number_unique unique (rotation_id, number),
  check ((ended_at is null) = (state in ('planned', 'calling', 'changed', 'verified')))
);
create index secret_rotation_attempt_project_index on secret_rotation_attempt (project_id);
create index secret_rotation_attempt_organization_index on secret_rotation_attempt (organization_id);
create unique index secret_rotation_attempt_open on secret_rotation_attempt (rotation_id) where ended_at is null;
create unique index secret_rotation_attempt_exclusive on secret_rotation_attempt (exclusive) where ended_at is null;`;

/** They outlive their rotations, and hold their connections. */
const DEBTS = `
create table credential_debt (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  rotation_id uuid not null,
  connection_id uuid not null references app_connection(id),
  type text not null check (type in ('datatool-service-token', 'hostos-local-account')),
  reason text not null check (reason in ('replaced', 'orphaned', 'unusable', 'deletion')),
  parameters jsonb not null,
  name text,
  credential_sealed bytea,
  tries integer not null default 0,
  error_code text,
  settled_at timestamptz(3),
  next_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  check (name is not null or credential_sealed is not null)
);
create index credential_debt_project_index on credential_debt (project_id, created_at, id);
create index credential_debt_organization_index on credential_debt (organization_id);
create index credential_debt_due_index on credential_debt (connection_id, next_at);
create index credential_debt_rotation_index on credential_debt (rotation_id);`;
