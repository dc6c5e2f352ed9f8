import { Migration } from '@mikro-orm/migrations';
import { tokenOf } from './baseline/members.js';

/** Members with a role in all projects of an organization, also in those that are made later. */
export class AllProjectsMemberships extends Migration {
  override up(): void {
    for (const statement of [TABLE, MEMBERS, ADMINS]) this.addSql(statement);
  }
}

const TABLE = `
create table all_projects_membership (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  user_id uuid,
  identity_id uuid,
  group_id uuid,
  -- A built-in one: roles that somebody made are of one project.
  role text not null check (role in ('admin', 'member', 'viewer', 'no-access')),
  -- Rules beside those of the role, which only allow; null for none.
  permissions jsonb,
  permissions_digest text generated always as (rules_digest(permissions)) stored,
  ends_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint all_projects_membership_one_member check (num_nonnulls(user_id, identity_id, group_id) = 1),
  constraint all_projects_membership_user_unique unique (organization_id, user_id),
  constraint all_projects_membership_identity_unique unique (organization_id, identity_id),
  constraint all_projects_membership_group_unique unique (organization_id, group_id),
  constraint all_projects_membership_user_fk foreign key (organization_id, user_id)
    references organization_membership (organization_id, user_id) on delete cascade,
  constraint all_projects_membership_identity_fk foreign key (organization_id, identity_id)
    references organization_membership (organization_id, identity_id) on delete cascade,
  constraint all_projects_membership_group_fk foreign key (organization_id, group_id)
    references organization_membership (organization_id, group_id) on delete cascade
);
create index all_projects_membership_member_index on all_projects_membership ((coalesce(user_id, identity_id)));
create index all_projects_membership_group_index on all_projects_membership (group_id);
create index all_projects_membership_created_at_index on all_projects_membership (organization_id, created_at, id);
create trigger all_projects_membership_identity_stays before insert on all_projects_membership
  for each row when (new.identity_id is not null) execute function identity_of_project_stays('all_projects_membership_identity_fk');
create trigger all_projects_membership_access_change after insert or update or delete or truncate on all_projects_membership
  for each statement execute function note_access_change();
create trigger all_projects_membership_history after insert or update or delete on all_projects_membership
  for each row execute function keep_access_history();

-- A new project, too: somebody may see it without a membership of its own.
create trigger project_insertion_access_change after insert on project for each statement execute function note_access_change();`;

/** No slug has an asterisk: the rules of a membership are those of a role that nobody else has. */
const ROLES = `case when w.permissions is null then array[w.role] else array[w.role, '*' || w.id] end`;

/** Never looked through for memberships that few have: `distinct` keeps the order, and lets the condition on one project through. */
const PROJECTS = '(select distinct p.id from project p where p.organization_id = w.organization_id)';

const MEMBERS = `
create or replace view project_member_now as
  select m.id, m.organization_id, m.project_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as roles, m.created_at, false as is_of_all_projects
  from project_membership m
  where m.group_id is null and (m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0)
    and not exists (
      select from organization_membership o
      where o.organization_id = m.organization_id and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
        and o.ends_at <= now())
  union all
  select m.id, m.organization_id, m.project_id, coalesce(g.user_id, g.identity_id), m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end, m.created_at, false
  from group_member g join project_membership m on m.group_id = g.group_id
  where m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0
  union all
  select w.id, w.organization_id, p.id, coalesce(w.user_id, w.identity_id), w.group_id, ${ROLES}, w.created_at, true
  from all_projects_membership w cross join lateral ${PROJECTS} p
  where w.group_id is null and (w.ends_at is null or now() < w.ends_at)
    and not exists (
      select from organization_membership o
      where o.organization_id = w.organization_id and coalesce(o.user_id, o.identity_id) = coalesce(w.user_id, w.identity_id)
        and o.ends_at <= now())
  union all
  select w.id, w.organization_id, p.id, coalesce(g.user_id, g.identity_id), w.group_id, ${ROLES}, w.created_at, true
  from group_member g join all_projects_membership w on w.group_id = g.group_id cross join lateral ${PROJECTS} p
  where w.ends_at is null or now() < w.ends_at;`;

/** One of these can log in. */
const CAN_LOG_IN = `(${tokenOf('user_id')}
      or ${tokenOf('identity_id')}
      or exists (
        select from universal_auth_client_secret c
        where c.identity_id = m.identity_id and not c.is_revoked
          and (c.num_uses_limit = 0 or c.num_uses < c.num_uses_limit) and (c.expires_at is null or now() < c.expires_at) offset 0))`;

/** Whoever is an admin of all projects is one of each, unless something in that forbids it to manage members. */
const ADMINS = `
create or replace view project_lasting_admin as
  select m.project_id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id
  from project_membership m
  join organization_membership o on o.organization_id = m.organization_id
    and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
  where 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
    and ${CAN_LOG_IN}
    and not exists (
      select from project_role r
      where r.project_id = m.project_id and r.slug = any(m.roles) and not coalesce(m.role_terms ? r.slug, false)
        and forbids_members(r.permissions))
    and not exists (
      select from group_member g
      join project_membership h on h.project_id = m.project_id and h.group_id = g.group_id
      join project_role r on r.project_id = h.project_id and r.slug = any(h.roles)
      where coalesce(g.user_id, g.identity_id) = coalesce(m.user_id, m.identity_id) and not coalesce(h.role_terms ? r.slug, false)
        and forbids_members(r.permissions) offset 0)
    and not exists (
      select from additional_privilege v
      where v.membership_id = m.id and v.ends_at is null and forbids_members(v.permissions))
  union all
  select p.id, m.organization_id, coalesce(m.user_id, m.identity_id)
  from project p join all_projects_membership m on m.organization_id = p.organization_id
  join organization_membership o on o.organization_id = m.organization_id
    and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
  where m.role = 'admin' and m.ends_at is null and o.ends_at is null
    and ${CAN_LOG_IN}
    and not exists (
      select from project_membership d
      where d.project_id = p.id and coalesce(d.user_id, d.identity_id) = coalesce(m.user_id, m.identity_id)
        and (roles_forbid_members(p.id, d.roles, d.role_terms) or exists (
          select from additional_privilege v
          where v.membership_id = d.id and v.ends_at is null and forbids_members(v.permissions))) offset 0)
    and not exists (
      select from group_member g join project_membership h on h.project_id = p.id and h.group_id = g.group_id
      where coalesce(g.user_id, g.identity_id) = coalesce(m.user_id, m.identity_id)
        and roles_forbid_members(p.id, h.roles, h.role_terms) offset 0);`;
