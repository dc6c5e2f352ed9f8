/** Keys of organizations, which wrap those of projects, and the re-encryption of what these seal. */
export const KEYS = `
create table organization_key (
  -- That of its first version.
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 500),
  is_default boolean not null default false,
  version integer not null default 1,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organization_key_name_unique unique (organization_id, name),
  -- It also seals values of the organization itself.
  constraint organization_key_default_enabled check (not is_default or disabled_at is null)
);
create unique index organization_key_default_unique on organization_key (organization_id) where is_default;
create index organization_key_disabled_index on organization_key (id) where disabled_at is not null;

-- Versions of keys of organizations, and keys of projects.
create table data_key (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid references project(id) on delete cascade,
  parent_key_id uuid references data_key(id),
  -- Null: a version of the default key, or a key of a project.
  organization_key_id uuid references organization_key(id) on delete cascade,
  wrapped_key_sealed bytea not null,
  seals_reserved bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3),
  -- Of a destroyed key only the keys of its digests are left.
  destroyed_at timestamptz(3)
);
create index data_key_organization_index on data_key (organization_id) where project_id is null;
create index data_key_project_index on data_key (project_id);
create index data_key_parent_index on data_key (parent_key_id);
create index data_key_organization_key_index on data_key (organization_key_id) where organization_key_id is not null;
create index data_key_renewed_index on data_key (greatest(retired_at, destroyed_at)) where retired_at is not null;
-- Deferred, because a project and its first key name each other.
alter table project add constraint project_kms_secret_manager_key_fk
  foreign key (kms_secret_manager_key_id) references data_key(id) deferrable initially deferred;

create table project_reencryption (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  state text not null default 'running' check (state in ('running', 'paused', 'settling', 'done', 'cancelled')),
  -- Null: not counted yet.
  total_values integer,
  done_values integer not null default 0,
  unreadable_values integer not null default 0,
  destroyed_keys integer not null default 0,
  settling_since timestamptz(3),
  -- Transactions that were open then.
  settling_transactions text[] not null default '{}',
  -- The table that the present pass is in, and the last row that it has looked at. Null: it has not begun.
  pass_table text,
  pass_row_id uuid,
  pass_part integer,
  pass_done integer not null default 0,
  pass_unreadable integer not null default 0,
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check ((finished_at is not null) = (state in ('done', 'cancelled')))
);
create unique index project_reencryption_active_unique on project_reencryption (project_id) where finished_at is null;
create index project_reencryption_project_index on project_reencryption (project_id, created_at desc, id);
create index project_reencryption_organization_index on project_reencryption (organization_id);
`;
