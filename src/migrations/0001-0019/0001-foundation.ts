import { Migration } from '@mikro-orm/migrations';

/** Organizations and their people, machine identities and tokens, projects, secrets, keys, and the audit trail. */
export class Foundation extends Migration {
  override up(): void {
    for (const statements of [INSTALLATION, ORGANIZATIONS, PROJECTS, KEYS, ACCESS, SECRETS, AUDIT])
      this.addSql(statements);
  }
}

const INSTALLATION = `
create table installation (
  id smallint primary key default 1 check (id = 1),
  key_check_value bytea not null check (octet_length(key_check_value) = 16),
  created_at timestamptz(3) not null default now()
);`;

const ORGANIZATIONS = `
create table organization (
  id uuid primary key,
  parent_id uuid references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  slug text not null check (char_length(slug) between 1 and 64),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index organization_sub_slug_unique on organization (parent_id, slug) where parent_id is not null;

create table app_user (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  username text not null check (char_length(username) between 1 and 255),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint app_user_username_unique unique (organization_id, username)
);

create table identity (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  is_installation_admin boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index identity_organization_index on identity (organization_id);

create table organization_membership (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  user_id uuid references app_user(id) on delete cascade,
  identity_id uuid references identity(id) on delete cascade,
  role text not null check (role in ('admin', 'member', 'no-access')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organization_membership_one_member check (num_nonnulls(user_id, identity_id) = 1)
);
create unique index organization_membership_user_unique on organization_membership (organization_id, user_id);
create unique index organization_membership_identity_unique on organization_membership (organization_id, identity_id);
create index organization_membership_user_index on organization_membership (user_id);
create index organization_membership_identity_index on organization_membership (identity_id);`;

const KEYS = `
create table data_key (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid references project(id) on delete cascade,
  parent_key_id uuid references data_key(id),
  wrapped_key_sealed bytea not null,
  seals_reserved bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3)
);
create index data_key_organization_index on data_key (organization_id) where project_id is null;
create index data_key_project_index on data_key (project_id);
create index data_key_parent_index on data_key (parent_key_id);
alter table project add constraint project_kms_secret_manager_key_fk foreign key (kms_secret_manager_key_id) references data_key(id) deferrable initially deferred;`;

const ACCESS = `
create table identity_token_auth (
  identity_id uuid primary key references identity(id) on delete cascade,
  trusted_ips cidr[] not null,
  ttl_seconds integer not null check (ttl_seconds between 0 and 315360000),
  max_ttl_seconds integer not null check (max_ttl_seconds between 0 and 315360000),
  num_uses_limit integer not null check (num_uses_limit >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table access_token (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  identity_id uuid references identity(id) on delete cascade,
  user_id uuid references app_user(id) on delete cascade,
  auth_method text not null check (auth_method in ('token-auth', 'personal')),
  name text check (char_length(name) <= 64),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  ttl_seconds integer not null,
  max_ttl_seconds integer not null,
  num_uses_limit integer not null,
  num_uses bigint not null default 0,
  period_seconds integer not null default 0,
  expires_at timestamptz(3),
  is_revoked boolean not null default false,
  last_used_at timestamptz(3),
  last_renewed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint access_token_hash_unique unique (token_hash),
  constraint access_token_one_owner check (num_nonnulls(user_id, identity_id) = 1)
) with (fillfactor = 80);
create index access_token_identity_index on access_token (identity_id, updated_at desc, id);
create index access_token_user_index on access_token (user_id, updated_at desc, id);
create index access_token_organization_index on access_token (organization_id);`;

const PROJECTS = `
create table project (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  name text not null check (char_length(name) between 1 and 64),
  slug text not null check (char_length(slug) between 1 and 64),
  type text not null check (type in ('secret-manager', 'cert-manager', 'kms', 'ssh', 'secret-scanning', 'pam', 'ai')),
  description text check (char_length(description) <= 1024),
  default_product text,
  auto_capitalization boolean not null default false,
  version integer not null default 1,
  upgrade_status text,
  pit_version_limit integer not null default 10 check (pit_version_limit between 1 and 100),
  kms_certificate_key_id uuid,
  kms_secret_manager_key_id uuid not null,
  audit_logs_retention_days integer,
  has_delete_protection boolean not null default false,
  secret_sharing boolean not null default true,
  show_snapshots_legacy boolean not null default false,
  secret_detection_ignore_values_sealed bytea,
  secret_detection_ignore_values_version integer not null default 0,
  enforce_encrypted_secret_metadata boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_slug_unique unique (organization_id, slug)
);
create index project_list_index on project (organization_id, name collate "C", id);
create index project_kms_secret_manager_key_index on project (kms_secret_manager_key_id);

create table environment (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  slug text not null check (char_length(slug) between 1 and 64),
  position integer not null check (position >= 1),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint environment_slug_unique unique (project_id, slug),
  constraint environment_position_unique unique (project_id, position) deferrable initially deferred
);

create table project_membership (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  user_id uuid,
  identity_id uuid,
  roles text[] not null check (cardinality(roles) >= 1),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_membership_one_member check (num_nonnulls(user_id, identity_id) = 1),
  constraint project_membership_user_fk foreign key (organization_id, user_id)
    references organization_membership (organization_id, user_id) on delete cascade,
  constraint project_membership_identity_fk foreign key (organization_id, identity_id)
    references organization_membership (organization_id, identity_id) on delete cascade
);
create unique index project_membership_user_unique on project_membership (project_id, user_id) where user_id is not null;
create unique index project_membership_identity_unique on project_membership (project_id, identity_id) where identity_id is not null;
create index project_membership_user_index on project_membership (user_id);
create index project_membership_identity_index on project_membership (identity_id);

-- However a membership ends: by itself, with that of the organization, or with the account. Not when the project ends.
create function project_keeps_an_admin() returns trigger language plpgsql as $$
begin
  -- Held until the commit: two admins who leave at the same moment would both still see the other one.
  perform 1 from project where id = old.project_id for no key update;
  if found and not exists (select 1 from project_membership where project_id = old.project_id and 'admin' = any(roles)) then
    raise exception 'a project would be left without an admin' using errcode = 'check_violation', constraint = 'project_keeps_an_admin';
  end if;
  return null;
end $$;
create trigger project_keeps_an_admin after delete or update of roles on project_membership
  for each row when ('admin' = any(old.roles)) execute function project_keeps_an_admin();`;

const SECRETS = `
create table folder (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id) on delete cascade,
  parent_id uuid references folder(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  path text not null check (path like '/%'),
  description text check (char_length(description) <= 1024),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint folder_path_unique unique (environment_id, path)
);
create index folder_parent_index on folder (parent_id);
create index folder_project_index on folder (project_id);

create table tag (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  color text not null check (char_length(color) <= 64),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint tag_slug_unique unique (project_id, slug)
);

create table secret (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id) on delete cascade,
  folder_id uuid not null references folder(id) on delete cascade,
  key text not null check (char_length(key) between 1 and 255),
  version integer not null default 1,
  value_sealed bytea not null,
  comment_sealed bytea,
  metadata jsonb not null default '[]',
  metadata_sealed bytea,
  skip_multiline_encoding boolean not null default false,
  reminder_note text check (char_length(reminder_note) <= 1024),
  reminder_repeat_days integer,
  actor_kind text not null,
  actor_id uuid not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint secret_key_unique unique (folder_id, key)
);
create index secret_project_index on secret (project_id);
create index secret_environment_index on secret (environment_id);

create table secret_tag (
  secret_id uuid not null references secret(id) on delete cascade,
  tag_id uuid not null references tag(id) on delete cascade,
  primary key (secret_id, tag_id)
);
create index secret_tag_tag_index on secret_tag (tag_id);`;

const AUDIT = `
create table audit_record (
  sequence bigint generated always as identity primary key,
  id uuid not null,
  organization_id uuid not null,
  project_id uuid,
  occurred_at timestamptz(3) not null default now(),
  action text not null,
  outcome text not null check (outcome in ('allowed', 'denied')),
  actor_kind text not null,
  actor_id uuid not null,
  token_id uuid,
  request_id uuid not null,
  address inet,
  user_agent text,
  facts jsonb not null,
  mac bytea not null
);
create index audit_record_organization_index on audit_record (organization_id, sequence desc);
create index audit_record_request_index on audit_record (request_id);`;
