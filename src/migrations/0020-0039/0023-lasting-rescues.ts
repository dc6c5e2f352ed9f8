import { Migration } from '@mikro-orm/migrations';

/** A rescue outlasts its project, and an admin counts as long as it has what it can log in with. */
export class LastingRescues extends Migration {
  override up(): void {
    for (const statement of [OUTLAST, LASTING_ADMINS]) this.addSql(statement);
  }
}

/** Whoever deletes the project that he rescued does not delete that he did so. */
const OUTLAST = 'alter table project_rescue drop constraint project_rescue_project_id_fkey';

/**
 * As before, but for the way to log in: a token or a client secret that is valid now. A method alone gives none, and neither does
 * being a user, since nobody makes a credential for an account with more rights than his own.
 */
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
        and r.permissions @> '[{"subject": "member", "inverted": true}]')
    and not exists (
      select from additional_privilege v
      where v.membership_id = m.id and v.ends_at is null and v.permissions @> '[{"subject": "member", "inverted": true}]')`;
