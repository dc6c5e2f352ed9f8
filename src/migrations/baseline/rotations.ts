/** Connections to external systems, rotations of credentials there, what these write, and what is still to be revoked. */
export const ROTATIONS = `
-- One name for all connections that call the same system, whatever the spelling of its host.
create function connection_target(app text, public_part jsonb, id uuid) returns text language sql immutable return app || ' ' || coalesce(
  case app
    when 'smb' then lower(rtrim(public_part ->> 'host', '.')) || ':' || (public_part ->> 'port')
    else regexp_replace(lower(substring(public_part ->> 'instanceUrl' from '^[^:]+://[^/?#]+')), '^(https://.*):443$|^(http://.*):80$', '\\1\\2')
  end, id::text);

-- Secrets are sealed for their row and \`credentials_version\`, so that no older ones can be put back.
create table app_connection (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  -- Null: of the organization.
  project_id uuid references project(id) on delete cascade,
  app text not null check (app in ('datatool', 'smb')),
  method text not null,
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 256),
  version integer not null default 1,
  public_part jsonb not null,
  target text not null generated always as (connection_target(app, public_part, id)) stored,
  credentials_sealed bytea not null,
  credentials_version integer not null default 1,
  -- A keyed digest of all credentials: changes only when they do.
  credentials_hash text not null,
  account_digest bytea,
  check_state text not null default 'unchecked' check (check_state in ('unchecked', 'working', 'failing')),
  check_code text,
  checked_at timestamptz(3),
  failing_since timestamptz(3),
  -- Checks in a row that failed.
  check_failures integer not null default 0,
  next_check_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index app_connection_name_unique on app_connection (organization_id, project_id, name) nulls not distinct;
create index app_connection_project_index on app_connection (project_id);
create index app_connection_check_index on app_connection (next_check_at);
create index app_connection_failing_index on app_connection (organization_id) where failing_since is not null;
create index app_connection_target_index on app_connection (organization_id, target);
create index app_connection_account_index on app_connection (organization_id, account_digest) where account_digest is not null;

-- What generated passwords are like, by names that rotations use.
create table password_rule (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 256),
  requirements jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint password_rule_name_unique unique (organization_id, name)
);

-- Environments, folders and connections are held by their rotations, but go with their project.
create table secret_rotation (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id),
  folder_id uuid not null references folder(id),
  connection_id uuid not null references app_connection(id),
  -- Of the account in the external system; null: not known yet.
  account_digest bytea,
  type text not null check (type in ('datatool-service-token', 'hostos-local-account')),
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 256),
  parameters jsonb not null,
  password_rule text generated always as (parameters ->> 'passwordRule') stored,
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
  constraint secret_rotation_name_unique unique (folder_id, name),
  -- A rule stays as long as a rotation names it.
  constraint secret_rotation_password_rule_fkey
    foreign key (organization_id, password_rule) references password_rule (organization_id, name),
  -- An account has one rotation of an organization at most.
  constraint secret_rotation_account_unique unique (organization_id, account_digest)
);
create index secret_rotation_project_index on secret_rotation (project_id);
create index secret_rotation_organization_index on secret_rotation (organization_id);
create index secret_rotation_environment_index on secret_rotation (environment_id);
create index secret_rotation_connection_index on secret_rotation (connection_id);
create index secret_rotation_due_index on secret_rotation (next_rotation_at)
  where is_auto_rotation_enabled and pause_reason is null and status in ('success', 'failed');
create index secret_rotation_requested_index on secret_rotation (requested_at) where requested_at is not null;
create index secret_rotation_password_rule_index on secret_rotation (organization_id, password_rule)
  where password_rule is not null;
create index secret_rotation_status_index on secret_rotation (status, project_id);
create index secret_rotation_paused_index on secret_rotation (project_id) where pause_reason is not null;

create table secret_rotation_credential (
  rotation_id uuid not null references secret_rotation(id) on delete cascade,
  slot integer not null check (slot in (0, 1)),
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  generation integer not null,
  credential_sealed bytea not null,
  account_digest bytea,
  created_at timestamptz(3) not null default now(),
  primary key (rotation_id, slot)
);
create index secret_rotation_credential_project_index on secret_rotation_credential (project_id);
create index secret_rotation_credential_organization_index on secret_rotation_credential (organization_id);
create index secret_rotation_credential_account_index on secret_rotation_credential (organization_id, account_digest)
  where account_digest is not null;

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
create index secret_rotation_attempt_organization_index on secret_rotation_attempt (organization_id);
create unique index secret_rotation_attempt_open on secret_rotation_attempt (rotation_id) where ended_at is null;
create unique index secret_rotation_attempt_exclusive on secret_rotation_attempt (exclusive) where ended_at is null;
create index secret_rotation_attempt_project_rows_index on secret_rotation_attempt (project_id, id);

-- Credentials that are still to be revoked. They outlive their rotations, and hold their connections.
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
  account_digest bytea,
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
create index credential_debt_rotation_index on credential_debt (rotation_id);
create index credential_debt_tried_index on credential_debt (project_id, created_at) where tries > 0;
create index credential_debt_account_index on credential_debt (organization_id, account_digest) where account_digest is not null;

-- Keys that are kept for secrets of rotations. The folder is not deleted with its keys: a rotation would find no place for its secrets. With
-- the project all of them go in one statement, at whose end this is checked.
create table secret_rotation_key (
  rotation_id uuid not null,
  field text not null check (char_length(field) between 1 and 64),
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  folder_id uuid not null,
  key text collate "C" not null check (char_length(key) between 1 and 255),
  primary key (rotation_id, field),
  constraint secret_rotation_key_unique unique (folder_id, key) deferrable initially immediate,
  constraint secret_rotation_key_folder_id_fkey foreign key (folder_id) references folder(id)
);
create index secret_rotation_key_project_index on secret_rotation_key (project_id);
create index secret_rotation_key_organization_index on secret_rotation_key (organization_id);

-- Whoever keeps a key for a rotation holds the folder, as all do who write keys in it: none of them looks before the other is done.
create function refuse_rotated_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform from written w join secret_rotation_key k on k.folder_id = w.folder_id and k.key = w.key
      where k.rotation_id is distinct from w.rotation_id;
  else
    perform from secret_rotation_key k where k.folder_id = new.folder_id and k.key = new.key and k.rotation_id is distinct from new.rotation_id;
  end if;
  if found then
    raise unique_violation using message = 'a rotation keeps the key for a secret of its own', table = 'secret', constraint = 'secret_key_unique';
  end if;
  return null;
end $$;
create trigger secret_rotated_key_of_new after insert on secret referencing new table as written
  for each statement execute function refuse_rotated_key();
create trigger secret_rotated_key_of_changed after update on secret
  for each row when (old.folder_id <> new.folder_id or old.key <> new.key or old.rotation_id is distinct from new.rotation_id)
  execute function refuse_rotated_key();
`;
