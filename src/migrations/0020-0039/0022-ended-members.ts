import { Migration } from '@mikro-orm/migrations';

/** A membership of a project ends with the one of the organization that it stands on, as it goes with it. */
export class EndedMembers extends Migration {
  override up(): void {
    this.addSql(MEMBERS_NOW);
  }
}

/** Whoever is still in the organization through a group has what groups give. */
const MEMBERS_NOW = `
create or replace view project_member_now as
  select m.id, m.organization_id, m.project_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as roles, m.created_at
  from project_membership m
  where m.group_id is null and (m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0)
    and not exists (
      select from organization_membership o
      where o.organization_id = m.organization_id and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
        and o.ends_at <= now())
  union all
  select m.id, m.organization_id, m.project_id, coalesce(g.user_id, g.identity_id), m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end, m.created_at
  from group_member g join project_membership m on m.group_id = g.group_id
  where m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0;`;
