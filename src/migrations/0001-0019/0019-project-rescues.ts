import { Migration } from '@mikro-orm/migrations';

/** How an organization gets back into a project that nobody administers any more. */
export class ProjectRescues extends Migration {
  override up(): void {
    for (const statement of [LASTING_ADMINS, LAST_ADMIN, RESCUES]) this.addSql(statement);
  }
}

/**
 * Who can be counted on to administer a project: an admin by itself and without an end, that has a way to log in, and whom no
 * rule of a role or privilege without an end forbids anything with members.
 */
const LASTING_ADMINS = `
create view project_lasting_admin as
  select m.project_id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id
  from project_membership m
  join organization_membership o on o.organization_id = m.organization_id and (o.user_id = m.user_id or o.identity_id = m.identity_id)
  where 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
    and (m.user_id is not null
      or exists (select from identity_token_auth a where a.identity_id = m.identity_id)
      or exists (select from identity_universal_auth a where a.identity_id = m.identity_id))
    and not exists (
      select from project_membership h
      left join group_member g on g.group_id = h.group_id
      join project_role r on r.project_id = h.project_id and r.slug = any(h.roles)
      where h.project_id = m.project_id and not coalesce(h.role_terms ? r.slug, false)
        and coalesce(m.user_id, m.identity_id) in (h.user_id, h.identity_id, g.user_id, g.identity_id)
        and r.permissions @> '[{"subject": "member", "inverted": true}]')
    and not exists (
      select from additional_privilege v
      where v.membership_id = m.id and v.ends_at is null and v.permissions @> '[{"subject": "member", "inverted": true}]');`;

/** Whoever is an admin for a time only never was the one that a project must keep. */
const LAST_ADMIN = `
drop trigger project_keeps_an_admin on project_membership;
create trigger project_keeps_an_admin after delete or update of roles, role_terms on project_membership
  for each row when ('admin' = any(old.roles) and not coalesce(old.role_terms ? 'admin', false) and old.group_id is null)
  execute function project_keeps_an_admin();`;

const RESCUES = `
create table project_rescue (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
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
create index project_rescue_identity_index on project_rescue (identity_id);`;
