/** Lists as they were given: { name, slug, rules }, { name, slug, position }, { id, roles } and { name, roles }. */
const TEMPLATE_CONTENT = `name text not null check (char_length(name) between 1 and 64),
  description text not null default '' check (char_length(description) <= 256),
  roles jsonb not null,
  -- Null: whoever makes a project says whether it has the default ones.
  environments jsonb,
  users jsonb not null,
  groups jsonb not null,
  identities jsonb not null,
  project_managed_identities jsonb not null`;

const KIND = `case when user_id is not null then 'user' when identity_id is not null then 'identity' else 'group' end`;

/** Projects and what they are made from, their environments, roles and members. */
export const PROJECTS = `
create table project_template (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  type text not null check (char_length(type) between 1 and 32),
  version integer not null default 1,
  ${TEMPLATE_CONTENT},
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_template_name_unique unique (organization_id, name),
  constraint project_template_is_not_built_in check (name <> 'default')
);

create table project_template_version (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  template_id uuid not null references project_template(id) on delete cascade,
  version integer not null,
  ${TEMPLATE_CONTENT},
  actor_kind text not null,
  actor_id uuid not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_template_version_unique unique (template_id, version)
);
create index project_template_version_organization_index on project_template_version (organization_id);

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
  -- Rises with every recorded change of the project, in the transaction of the change.
  revision bigint not null default 1,
  template_id uuid,
  template_version integer,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_slug_unique unique (organization_id, slug),
  constraint project_template_version_fk foreign key (template_id, template_version)
    references project_template_version (template_id, version) on delete set null
);
create index project_list_index on project (organization_id, name collate "C", id);
create index project_kms_secret_manager_key_index on project (kms_secret_manager_key_id);
create index project_template_index on project (template_id, template_version) where template_id is not null;
alter table identity add constraint identity_project_id_fkey foreign key (project_id) references project(id) on delete cascade;

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

create table project_role (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  name text not null check (char_length(name) between 1 and 64),
  description text not null default '' check (char_length(description) <= 1024),
  -- Rules in order, { subject, action: [...], inverted?, conditions? }: later ones win.
  permissions jsonb not null,
  permissions_digest text not null generated always as (rules_digest(permissions)) stored,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_role_slug_unique unique (project_id, slug),
  -- These name the roles that every project has, which are no rows.
  constraint project_role_is_not_built_in check (slug not in ('admin', 'member', 'viewer', 'no-access', 'custom'))
);

create table project_membership (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  user_id uuid,
  identity_id uuid,
  group_id uuid,
  -- Of the member, for the orders of lists.
  name text collate "C" not null default '',
  roles text[] not null check (cardinality(roles) >= 1),
  -- Of roles that are held for a time: { slug: { range, startsAt, endsAt } }. Roles that are not in it have no end.
  role_terms jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_membership_one_member check (num_nonnulls(user_id, identity_id, group_id) = 1),
  -- Who leaves the organization leaves its projects.
  constraint project_membership_user_fk foreign key (organization_id, user_id)
    references organization_membership (organization_id, user_id) on delete cascade,
  constraint project_membership_identity_fk foreign key (organization_id, identity_id)
    references organization_membership (organization_id, identity_id) on delete cascade,
  constraint project_membership_group_fk foreign key (organization_id, group_id)
    references organization_membership (organization_id, group_id) on delete cascade
);
create unique index project_membership_user_unique on project_membership (project_id, user_id) where user_id is not null;
create unique index project_membership_identity_unique on project_membership (project_id, identity_id) where identity_id is not null;
create unique index project_membership_group_unique on project_membership (project_id, group_id) where group_id is not null;
create index project_membership_user_index on project_membership (user_id);
create index project_membership_identity_index on project_membership (identity_id);
create index project_membership_group_index on project_membership (group_id);
create index project_membership_member_index on project_membership ((coalesce(user_id, identity_id)), project_id);
-- One for each order of their list. In lists of some kinds of members others are not read.
create index project_membership_name_index on project_membership (project_id, (${KIND}), name, id);
create index project_membership_created_at_index on project_membership (project_id, (${KIND}), created_at, id);
create index project_membership_updated_at_index on project_membership (project_id, (${KIND}), updated_at, id);
-- Whether a project has an admin to count on takes no more with many members than with few.
create index project_membership_admin_index on project_membership (project_id) where 'admin' = any(roles);

create table additional_privilege (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  membership_id uuid not null references project_membership(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  -- As those of roles. They follow on the rules of all roles of the member.
  permissions jsonb not null,
  permissions_digest text not null generated always as (rules_digest(permissions)) stored,
  temporary_range text,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint additional_privilege_slug_unique unique (membership_id, slug),
  constraint additional_privilege_term check (num_nonnulls(temporary_range, starts_at, ends_at) in (0, 3))
);
create index additional_privilege_project_index on additional_privilege (project_id);

-- How an organization got back into a project that nobody administered any more.
create table project_rescue (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  -- Not a foreign key: whoever deletes the project that he rescued does not delete that he did so.
  project_id uuid not null,
  -- Who became an admin; neither, once that account is deleted.
  user_id uuid references app_user(id) on delete set null,
  identity_id uuid references identity(id) on delete set null,
  reason text not null check (char_length(reason) between 1 and 500),
  ends_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_rescue_one_member check (num_nonnulls(user_id, identity_id) <= 1)
);
create index project_rescue_organization_index on project_rescue (organization_id, created_at desc, id);
create index project_rescue_project_index on project_rescue (project_id, ends_at);
create index project_rescue_user_index on project_rescue (user_id);
create index project_rescue_identity_index on project_rescue (identity_id);
`;
