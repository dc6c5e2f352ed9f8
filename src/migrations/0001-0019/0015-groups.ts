import { Migration } from '@mikro-orm/migrations';

/** Groups, custom roles of organizations, roles for a time, privileges, identities of projects, and the history of all that. */
export class Groups extends Migration {
  override up(): void {
    for (const statements of [
      GROUPS,
      ORGANIZATION_MEMBERSHIPS,
      PROJECT_MEMBERSHIPS,
      LAST_ADMIN,
      ROLES,
      IDENTITIES,
      EFFECTIVE,
      HISTORY,
    ])
      this.addSql(statements);
  }
}

const GROUPS = `
create table member_group (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  slug text not null check (char_length(slug) between 1 and 64),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint member_group_slug_unique unique (organization_id, slug)
);

-- Whoever leaves the organization leaves its groups.
create table group_member (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  group_id uuid not null references member_group(id) on delete cascade,
  user_id uuid,
  identity_id uuid,
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
create index group_member_member_index on group_member ((coalesce(user_id, identity_id)), group_id);`;

const ORGANIZATION_MEMBERSHIPS = `
alter table organization_membership drop constraint organization_membership_one_member;
alter table organization_membership drop constraint organization_membership_role_check;
alter table organization_membership
  add column group_id uuid references member_group(id) on delete cascade,
  add column ends_at timestamptz(3),
  add constraint organization_membership_one_member check (num_nonnulls(user_id, identity_id, group_id) = 1),
  add constraint organization_membership_role_length check (char_length(role) between 1 and 64);
create unique index organization_membership_group_unique on organization_membership (organization_id, group_id);
create index organization_membership_group_index on organization_membership (group_id);
create index organization_membership_member_index on organization_membership ((coalesce(user_id, identity_id)), organization_id);`;

const PROJECT_MEMBERSHIPS = `
alter table project_membership drop constraint project_membership_one_member;
alter table project_membership
  add column group_id uuid,
  -- Of roles that are held for a time: { slug: { range, startsAt, endsAt } }. Roles that are not in it have no end.
  add column role_terms jsonb,
  add constraint project_membership_one_member check (num_nonnulls(user_id, identity_id, group_id) = 1),
  add constraint project_membership_group_fk foreign key (organization_id, group_id)
    references organization_membership (organization_id, group_id) on delete cascade;
create unique index project_membership_group_unique on project_membership (project_id, group_id) where group_id is not null;
create index project_membership_group_index on project_membership (group_id);
create index project_membership_member_index on project_membership ((coalesce(user_id, identity_id)), project_id);

create table additional_privilege (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  membership_id uuid not null references project_membership(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  -- As those of roles. They follow on the rules of all roles of the member.
  permissions jsonb not null,
  temporary_range text,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint additional_privilege_slug_unique unique (membership_id, slug),
  constraint additional_privilege_term check (num_nonnulls(temporary_range, starts_at, ends_at) in (0, 3))
);
create index additional_privilege_project_index on additional_privilege (project_id);`;

/** Groups change and terms end: neither keeps a project its admin. */
const LAST_ADMIN = `
create or replace function project_keeps_an_admin() returns trigger language plpgsql as $$
begin
  -- Held until the commit: two admins who leave at the same moment would both still see the other one.
  perform 1 from project where id = old.project_id for no key update;
  if found and not exists (select 1 from project_membership m
      join organization_membership o on o.organization_id = m.organization_id and (o.user_id = m.user_id or o.identity_id = m.identity_id)
      where m.project_id = old.project_id and 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null)
    -- Who stays an admin takes none away: whoever makes a project while its own membership of the organization ends.
    and not (tg_op = 'UPDATE' and 'admin' = any(new.roles) and not coalesce(new.role_terms ? 'admin', false)) then
    raise exception 'a project would be left without an admin' using errcode = 'check_violation', constraint = 'project_keeps_an_admin';
  end if;
  return null;
end $$;
drop trigger project_keeps_an_admin on project_membership;
create trigger project_keeps_an_admin after delete or update of roles, role_terms on project_membership
  for each row when ('admin' = any(old.roles) and old.group_id is null) execute function project_keeps_an_admin();`;

const ROLES = `
create table organization_role (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  name text not null check (char_length(name) between 1 and 64),
  description text not null default '' check (char_length(description) <= 1024),
  -- Rules in order, { subject, action: [...], inverted?, conditions? }: later ones win.
  permissions jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organization_role_slug_unique unique (organization_id, slug),
  constraint organization_role_is_not_built_in check (slug not in ('admin', 'member', 'no-access', 'custom'))
);`;

const IDENTITIES = `
alter table identity
  -- The project that owns it; null for one of the organization.
  add column project_id uuid references project(id) on delete cascade,
  -- [{ key, value }]: rules of roles can name them.
  add column metadata jsonb not null default '[]';
create index identity_project_index on identity (project_id) where project_id is not null;`;

/** Who is a member of what right now, by itself or through a group. */
const EFFECTIVE = `
create function roles_now(roles text[], terms jsonb) returns text[] language sql stable parallel safe as $$
  select array(
    select role from unnest(roles) with ordinality as held(role, at)
    where not terms ? role or ((terms -> role ->> 'startsAt')::timestamptz <= now() and now() < (terms -> role ->> 'endsAt')::timestamptz)
    order by at)
$$;

create view organization_member_now as
  select m.id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id, m.role, m.created_at
  from organization_membership m
  where m.group_id is null and (m.ends_at is null or now() < m.ends_at)
  union all
  select m.id, m.organization_id, coalesce(g.user_id, g.identity_id), m.group_id, m.role, m.created_at
  from group_member g join organization_membership m on m.group_id = g.group_id
  where m.ends_at is null or now() < m.ends_at;

create view project_member_now as
  select m.id, m.organization_id, m.project_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as roles, m.created_at
  from project_membership m
  where m.group_id is null and (m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0)
  union all
  select m.id, m.organization_id, m.project_id, coalesce(g.user_id, g.identity_id), m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end, m.created_at
  from group_member g join project_membership m on m.group_id = g.group_id
  where m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0;`;

const KEPT_TABLES = [
  'organization_membership',
  'project_membership',
  'group_member',
  'organization_role',
  'project_role',
  'additional_privilege',
] as const;

/** What memberships, groups, roles and privileges were, and when. Triggers write it, so that nothing can be changed beside it. */
const HISTORY = `
create table access_history (
  sequence bigint generated always as identity primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid,
  source text not null,
  row_id uuid not null,
  content jsonb not null,
  valid_from timestamptz not null,
  -- Null for what holds now.
  valid_to timestamptz
);
create unique index access_history_open_unique on access_history (source, row_id) where valid_to is null;
create index access_history_organization_index on access_history (organization_id, source, valid_from);

create function keep_access_history() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update access_history set valid_to = now() where source = tg_table_name and row_id = old.id and valid_to is null;
  end if;
  if tg_op <> 'DELETE' then
    insert into access_history (organization_id, project_id, source, row_id, content, valid_from)
    values (new.organization_id, (to_jsonb(new) ->> 'project_id')::uuid, tg_table_name, new.id, to_jsonb(new), now());
  end if;
  return null;
end $$;
${KEPT_TABLES.map(
  (table) => `
create trigger ${table}_history after insert or update or delete on ${table} for each row execute function keep_access_history();
insert into access_history (organization_id, project_id, source, row_id, content, valid_from)
  select t.organization_id, (to_jsonb(t) ->> 'project_id')::uuid, '${table}', t.id, to_jsonb(t), t.updated_at from ${table} t;`,
).join('')}`;
