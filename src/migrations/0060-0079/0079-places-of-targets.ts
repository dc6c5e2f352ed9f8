import { Migration } from '@mikro-orm/migrations';

/** Jobs know the external system that they call, and external systems that do not respond are left alone for a while. */
export class PlacesOfTargets extends Migration {
  override up(): void {
    for (const statement of [JOBS, CONNECTIONS, UNRESPONSIVE, POLICY]) this.addSql(statement);
  }
}

const JOBS = `
alter table job
  -- The external system that it calls, as its organization names it.
  add column target text check (char_length(target) <= 2200),
  -- Somebody waits for it.
  add column is_urgent boolean not null default false;
create index job_urgent_index on job (kind, wake_at) where is_urgent and wake_at is not null;
-- Jobs that wait until something is as they need it.
create index job_reason_index on job (organization_id) where state = 'waiting' and error_code in ('KEY_DISABLED', 'TARGET_UNRESPONSIVE');`;

/** One name for all connections that call the same system, whatever the spelling of its host. */
const CONNECTIONS = `
create function connection_target(app text, public_part jsonb, id uuid) returns text language sql immutable return app || ' ' || coalesce(
  case app
    when 'smb' then lower(rtrim(public_part ->> 'host', '.')) || ':' || (public_part ->> 'port')
    else regexp_replace(lower(substring(public_part ->> 'instanceUrl' from '^[^:]+://[^/?#]+')), '^(https://.*):443$|^(http://.*):80$', '\\1\\2')
  end, id::text);
alter table app_connection add column target text not null generated always as (connection_target(app, public_part, id)) stored;
create index app_connection_target_index on app_connection (organization_id, target);`;

const UNRESPONSIVE = `
create table unresponsive_target (
  organization_id uuid not null references organization (id) on delete cascade,
  target text not null check (char_length(target) <= 2200),
  -- Since when no call had a response, and how often one was tried.
  since timestamptz(3) not null default now(),
  failed_at timestamptz(3) not null default now(),
  failures integer not null default 1 check (failures > 0),
  error_code text not null,
  -- Before this time nobody calls it by himself.
  next_try_at timestamptz(3) not null,
  primary key (organization_id, target)
);`;

const SETTING = `current_setting('strongroom.organization', true)`;
const SCOPE = `(select nullif(nullif(${SETTING}, '*'), '')::uuid)`;
const POLICY = `
create policy strongroom_organization on unresponsive_target using (
  organization_id = ${SCOPE} or (select ${SETTING} = '*') or organization_id = any(array(
    select o.id from organization o where o.parent_id = ${SCOPE} union all select o.parent_id from organization o where o.id = ${SCOPE})));
alter table unresponsive_target enable row level security;`;
