import { Migration } from '@mikro-orm/migrations';

/**
 * Each transaction that may change what somebody may do, or what projects and environments are, leaves its number, so that a node knows
 * whether what it has read of that is still right. Triggers leave it, so that nothing can be changed beside it.
 */
export class AccessChanges extends Migration {
  override up(): void {
    this.addSql(CHANGES);
    for (const table of WHOLE) this.addSql(noting(table, 'insert or update or delete or truncate'));
    // Not a new one: nobody sees it without a membership.
    this.addSql(noting('project', `update of ${PROJECT_COLUMNS.join(', ')} or delete or truncate`));
    this.addSql(OF_TOKENS);
    this.addSql(MEMBERS_NOW);
  }
}

// The number of a transaction is never used again, and the same for its nested ones. With the rights of the owner: nodes of the version
// before have none to this table.
const CHANGES = `
create table access_change (transaction xid8 primary key default pg_current_xact_id());

create function note_access_change() returns trigger language plpgsql security definer as $$
begin
  insert into access_change default values on conflict do nothing;
  return null;
end $$;

do $$
begin
  execute format('alter function note_access_change() set search_path = %I, pg_temp', current_schema());
end $$;`;

const noting = (table: string, events: string): string =>
  `create trigger ${table}_access_change after ${events} on ${table} for each statement execute function note_access_change()`;

const WHOLE = [
  'additional_privilege',
  'app_user',
  'environment',
  'group_member',
  'identity',
  'identity_token_auth',
  'identity_universal_auth',
  'organization',
  'organization_membership',
  'organization_role',
  'project_membership',
  'project_role',
];

/** All but `revision`, which rises with every change of what is in the project. */
const PROJECT_COLUMNS = [
  'id',
  'organization_id',
  'name',
  'slug',
  'type',
  'description',
  'default_product',
  'auto_capitalization',
  'version',
  'upgrade_status',
  'pit_version_limit',
  'kms_certificate_key_id',
  'kms_secret_manager_key_id',
  'audit_logs_retention_days',
  'has_delete_protection',
  'secret_sharing',
  'show_snapshots_legacy',
  'secret_detection_ignore_values_sealed',
  'secret_detection_ignore_values_version',
  'enforce_encrypted_secret_metadata',
  'created_at',
  'updated_at',
  'template_id',
  'template_version',
];

/** Not its uses, which each request may count, nor a later end, nor the end of one that nobody can use. */
const OF_TOKENS = `
create trigger access_token_access_change after update on access_token for each row
  when ((old.id, old.organization_id, old.identity_id, old.user_id, old.auth_method, old.token_hash, old.max_ttl_seconds, old.num_uses_limit,
      old.is_revoked, old.created_at)
    is distinct from (new.id, new.organization_id, new.identity_id, new.user_id, new.auth_method, new.token_hash, new.max_ttl_seconds,
      new.num_uses_limit, new.is_revoked, new.created_at)
    or coalesce(new.expires_at, 'infinity') < coalesce(old.expires_at, 'infinity'))
  execute function note_access_change();
create trigger access_token_deletion_access_change after delete on access_token for each row
  when (not old.is_revoked and coalesce(now() < old.expires_at, true))
  execute function note_access_change();
create trigger access_token_truncation_access_change after truncate on access_token for each statement
  execute function note_access_change();`;

/** With the time when a membership ends. */
const MEMBERS_NOW = `
create or replace view organization_member_now as
  select m.id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id, m.role, m.created_at, m.ends_at
  from organization_membership m
  where m.group_id is null and (m.ends_at is null or now() < m.ends_at)
  union all
  select m.id, m.organization_id, coalesce(g.user_id, g.identity_id), m.group_id, m.role, m.created_at, m.ends_at
  from group_member g join organization_membership m on m.group_id = g.group_id
  where m.ends_at is null or now() < m.ends_at;`;
