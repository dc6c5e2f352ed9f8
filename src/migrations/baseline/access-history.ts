/** Whose rename is no change: their history is of who held what. */
const NAMED = ['organization_membership', 'group_member', 'project_membership'];
const KEPT = ['organization_role', 'project_role', 'additional_privilege'];

/** Which a node may have read to find out what somebody may do. */
const DECIDING = [
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

const noting = (table: string, events: string): string =>
  `create trigger ${table}_access_change after ${events} on ${table} for each statement execute function note_access_change();`;

/** What memberships, groups, roles and privileges were, and when; and which transactions may have changed what somebody may do. */
export const ACCESS_HISTORY = `
-- Triggers write it, so that nothing can be changed beside it.
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
-- Members of a project can belong to the organization above its own.
create index access_history_identity_index on access_history (row_id, valid_from) where source = 'identity';

create function keep_access_history() returns trigger language plpgsql as $$
declare
  content jsonb = to_jsonb(new);
begin
  if tg_op <> 'INSERT' then
    update access_history set valid_to = now() where source = tg_table_name and row_id = old.id and valid_to is null;
  end if;
  if tg_op <> 'DELETE' then
    if tg_table_name in (${NAMED.map((table) => `'${table}'`).join(', ')}) then
      content = content - 'name';
    end if;
    insert into access_history (organization_id, project_id, source, row_id, content, valid_from)
    values (new.organization_id, (content ->> 'project_id')::uuid, tg_table_name, new.id, content, now());
  end if;
  return null;
end $$;
${NAMED.map(
  (table) => `
create trigger ${table}_history after insert or delete on ${table} for each row execute function keep_access_history();
create trigger ${table}_change_history after update on ${table}
  for each row when (old.name = new.name) execute function keep_access_history();`,
).join('')}
${KEPT.map(
  (table) => `
create trigger ${table}_history after insert or update or delete on ${table} for each row execute function keep_access_history();`,
).join('')}

-- Rules name the metadata of identities. Whatever else one of them changes writes no row.
create trigger identity_history after insert or delete on identity for each row execute function keep_access_history();
create trigger identity_metadata_history after update on identity
  for each row when (old.metadata is distinct from new.metadata) execute function keep_access_history();

-- Each transaction that may change what somebody may do, or what projects and environments are, leaves its number, which is never used
-- again: a node knows by it whether what it has read of that is still right.
create table access_change (transaction xid8 primary key default pg_current_xact_id());

-- With the rights of the owner: nobody else writes to the table.
create function note_access_change() returns trigger language plpgsql security definer as $$
begin
  insert into access_change default values on conflict do nothing;
  return null;
end $$;
do $$
begin
  execute format('alter function note_access_change() set search_path = %I, pg_temp', current_schema());
end $$;
${DECIDING.map((table) => noting(table, 'insert or update or delete or truncate')).join('\n')}
-- Not a new one: nobody sees it without a membership.
${noting('project', `update of ${PROJECT_COLUMNS.join(', ')} or delete or truncate`)}

-- Not the uses of a token, which each request may count, nor a later end, nor the end of one that nobody can use.
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
  execute function note_access_change();
`;
