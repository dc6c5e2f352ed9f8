/** Organizations, the accounts and groups in them, and what those may do there. */
export const ORGANIZATIONS = `
create table organization (
  id uuid primary key,
  parent_id uuid references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  slug text not null check (char_length(slug) between 1 and 64),
  -- Where people get mails. Empty: at those of the root organization; of a root organization, at any.
  allowed_email_domains text[] not null default '{}'
    constraint organization_allowed_email_domains_check check (cardinality(allowed_email_domains) <= 50),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index organization_sub_slug_unique on organization (parent_id, slug) where parent_id is not null;

create table app_user (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  username text not null check (char_length(username) between 1 and 255),
  updated_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  constraint app_user_username_unique unique (organization_id, username)
);
-- One for each order of their list: a page reads no more of a long list than of a short one.
create index app_user_name_index on app_user (organization_id, username collate "C", id);
create index app_user_created_at_index on app_user (organization_id, created_at, id);
create index app_user_updated_at_index on app_user (organization_id, updated_at, id);

create table member_group (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  slug text not null check (char_length(slug) between 1 and 64),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint member_group_slug_unique unique (organization_id, slug)
);

create table identity (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  is_installation_admin boolean not null default false,
  has_delete_protection boolean not null default false,
  -- The project that owns it; null for one of the organization.
  project_id uuid,
  -- [{ key, value }]: rules of roles can name them.
  metadata jsonb not null default '[]',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index identity_organization_index on identity (organization_id);
create index identity_project_index on identity (project_id) where project_id is not null;
-- Identities of projects are in no list of an organization.
create index identity_name_index on identity (organization_id, name collate "C", id) where project_id is null;
create index identity_created_at_index on identity (organization_id, created_at, id) where project_id is null;
create index identity_updated_at_index on identity (organization_id, updated_at, id) where project_id is null;

create table organization_membership (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  user_id uuid references app_user(id) on delete cascade,
  identity_id uuid references identity(id) on delete cascade,
  group_id uuid references member_group(id) on delete cascade,
  -- Of the member, for the orders of lists. Empty: in no list of the organization.
  name text collate "C" not null default '',
  role text not null constraint organization_membership_role_length check (char_length(role) between 1 and 64),
  ends_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organization_membership_one_member check (num_nonnulls(user_id, identity_id, group_id) = 1)
);
create unique index organization_membership_user_unique on organization_membership (organization_id, user_id);
create unique index organization_membership_identity_unique on organization_membership (organization_id, identity_id);
create unique index organization_membership_group_unique on organization_membership (organization_id, group_id);
create index organization_membership_user_index on organization_membership (user_id);
create index organization_membership_identity_index on organization_membership (identity_id);
create index organization_membership_group_index on organization_membership (group_id);
create index organization_membership_member_index on organization_membership ((coalesce(user_id, identity_id)), organization_id);
create index organization_membership_name_index on organization_membership (organization_id, name, id) where name <> '';
create index organization_membership_created_at_index on organization_membership (organization_id, created_at, id) where name <> '';
create index organization_membership_updated_at_index on organization_membership (organization_id, updated_at, id) where name <> '';

-- Whoever leaves the organization leaves its groups.
create table group_member (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  group_id uuid not null references member_group(id) on delete cascade,
  user_id uuid,
  identity_id uuid,
  name text collate "C" not null default '',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint group_member_one_member check (num_nonnulls(user_id, identity_id) = 1),
  constraint group_member_user_unique unique (group_id, user_id),
  constraint group_member_identity_unique unique (group_id, identity_id),
  constraint group_member_user_fk foreign key (organization_id, user_id)
    references organization_membership (organization_id, user_id) on delete cascade,
  constraint group_member_identity_fk foreign key (organization_id, identity_id)
    references organization_membership (organization_id, identity_id) on delete cascade
);
create index group_member_user_index on group_member (user_id);
create index group_member_identity_index on group_member (identity_id);
create index group_member_member_index on group_member ((coalesce(user_id, identity_id)), group_id);
create index group_member_name_index
  on group_member (group_id, (case when user_id is null then 'identity' else 'user' end), name, id);

-- Nodes know by it the rules that they have compiled. Generated, so that no change of rules can leave another digest beside them.
create function rules_digest(rules jsonb) returns text language sql immutable strict parallel safe as $$
  select encode(sha256(convert_to(rules::text, 'UTF8')), 'base64')
$$;

create table organization_role (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  name text not null check (char_length(name) between 1 and 64),
  description text not null default '' check (char_length(description) <= 1024),
  -- Rules in order, { subject, action: [...], inverted?, conditions? }: later ones win.
  permissions jsonb not null,
  permissions_digest text not null generated always as (rules_digest(permissions)) stored,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organization_role_slug_unique unique (organization_id, slug),
  constraint organization_role_is_not_built_in check (slug not in ('admin', 'member', 'no-access', 'custom'))
);
`;
