import { Migration } from '@mikro-orm/migrations';

/** An admin whom a role beside it forbids to manage members keeps no project its admin. */
export class UsableAdmins extends Migration {
  override up(): void {
    for (const statement of [FORBIDS, LASTING_ADMINS, LAST_ADMIN]) this.addSql(statement);
  }
}

/** What is no list of rules cannot be read, and forbids everything, as `readStoredRules` has it. */
const FORBIDS = `
create function forbids_members(permissions jsonb) returns boolean language sql immutable parallel safe as $$
  select jsonb_typeof(permissions) <> 'array' or permissions @> '[{"subject": "member", "inverted": true}]' $$;
create function roles_forbid_members(project_id uuid, roles text[], terms jsonb) returns boolean language sql stable parallel safe as $$
  select exists (select from project_role r
    where r.project_id = $1 and r.slug = any($2) and not coalesce($3 ? r.slug, false) and forbids_members(r.permissions)) $$;`;

/** As before, but for rules that cannot be read. */
const LASTING_ADMINS = `
create or replace view project_lasting_admin as
  select m.project_id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id
  from project_membership m
  join organization_membership o on o.organization_id = m.organization_id and (o.user_id = m.user_id or o.identity_id = m.identity_id)
  where 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
    and (
      exists (
        select from access_token t join organization g on g.id = m.organization_id and t.organization_id in (g.id, g.parent_id)
        where (t.user_id = m.user_id or t.identity_id = m.identity_id) and not t.is_revoked
          and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit) and (t.expires_at is null or now() < t.expires_at)
          and (t.max_ttl_seconds = 0 or now() < t.created_at + make_interval(secs => t.max_ttl_seconds)))
      or exists (
        select from universal_auth_client_secret c
        where c.identity_id = m.identity_id and not c.is_revoked
          and (c.num_uses_limit = 0 or c.num_uses < c.num_uses_limit) and (c.expires_at is null or now() < c.expires_at)))
    and not exists (
      select from project_membership h
      left join group_member g on g.group_id = h.group_id
      join project_role r on r.project_id = h.project_id and r.slug = any(h.roles)
      where h.project_id = m.project_id and not coalesce(h.role_terms ? r.slug, false)
        and coalesce(m.user_id, m.identity_id) in (h.user_id, h.identity_id, g.user_id, g.identity_id)
        and forbids_members(r.permissions))
    and not exists (
      select from additional_privilege v
      where v.membership_id = m.id and v.ends_at is null and forbids_members(v.permissions))`;

/** Who stays counts only if its own roles let it manage members, unless those of who leaves do not do so either. */
const LAST_ADMIN = `
create or replace function project_keeps_an_admin() returns trigger language plpgsql as $$
begin
  -- Held until the commit: two admins who leave at the same moment would both still see the other one.
  perform 1 from project where id = old.project_id for no key update;
  if found and not exists (select 1 from project_membership m
      join organization_membership o on o.organization_id = m.organization_id and (o.user_id = m.user_id or o.identity_id = m.identity_id)
      where m.project_id = old.project_id and 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
        and (not roles_forbid_members(m.project_id, m.roles, m.role_terms)
          or roles_forbid_members(old.project_id, old.roles, old.role_terms)))
    -- Who stays an admin takes none away: whoever makes a project while its own membership of the organization ends.
    and not (tg_op = 'UPDATE' and 'admin' = any(new.roles) and not coalesce(new.role_terms ? 'admin', false)) then
    raise exception 'a project would be left without an admin' using errcode = 'check_violation', constraint = 'project_keeps_an_admin';
  end if;
  return null;
end $$;`;
