import { Migration } from '@mikro-orm/migrations';

/**
 * Whether a project has an admin to count on takes no more in an organization of many members and tokens than in one of few: the admins of
 * the project have an index, and what is theirs is looked up by who they are.
 */
export class LookupsOfAdmins extends Migration {
  override up(): void {
    for (const statement of [ADMINS, LASTING_ADMINS, LAST_ADMIN]) this.addSql(statement);
  }
}

const ADMINS = `create index project_membership_admin_index on project_membership (project_id) where 'admin' = any(roles)`;

/** Conditions with `or` on who a row is of are none of an index, and `offset 0` keeps Postgres from reading the tokens of all. */
const tokenOf = (owner: 'user_id' | 'identity_id'): string => `exists (
        select from access_token t join organization g on g.id = m.organization_id and t.organization_id in (g.id, g.parent_id)
        where t.${owner} = m.${owner} and not t.is_revoked
          and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit) and (t.expires_at is null or now() < t.expires_at)
          and (t.max_ttl_seconds = 0 or now() < t.created_at + make_interval(secs => t.max_ttl_seconds)) offset 0)`;

/** As before: by itself and through groups a member has roles in the project. */
const LASTING_ADMINS = `
create or replace view project_lasting_admin as
  select m.project_id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id
  from project_membership m
  join organization_membership o on o.organization_id = m.organization_id
    and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
  where 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
    and (${tokenOf('user_id')}
      or ${tokenOf('identity_id')}
      or exists (
        select from universal_auth_client_secret c
        where c.identity_id = m.identity_id and not c.is_revoked
          and (c.num_uses_limit = 0 or c.num_uses < c.num_uses_limit) and (c.expires_at is null or now() < c.expires_at) offset 0))
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
      where v.membership_id = m.id and v.ends_at is null and forbids_members(v.permissions))`;

/** As before. */
const LAST_ADMIN = `
create or replace function project_keeps_an_admin() returns trigger language plpgsql as $$
begin
  -- Held until the commit: two admins who leave at the same moment would both still see the other one.
  perform 1 from project where id = old.project_id for no key update;
  if found and not exists (select 1 from project_membership m
      join organization_membership o on o.organization_id = m.organization_id
        and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
      where m.project_id = old.project_id and 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
        and (not roles_forbid_members(m.project_id, m.roles, m.role_terms)
          or roles_forbid_members(old.project_id, old.roles, old.role_terms)))
    -- Who stays an admin takes none away: whoever makes a project while its own membership of the organization ends.
    and not (tg_op = 'UPDATE' and 'admin' = any(new.roles) and not coalesce(new.role_terms ? 'admin', false)) then
    raise exception 'a project would be left without an admin' using errcode = 'check_violation', constraint = 'project_keeps_an_admin';
  end if;
  return null;
end $$`;
