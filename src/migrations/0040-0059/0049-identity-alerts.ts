import { Migration } from '@mikro-orm/migrations';

/** Alerts of the expiry of identities' credentials, of organizations and of projects. */
export class IdentityAlerts extends Migration {
  override up(): void {
    for (const statement of [ALERTS, CHANNELS, MESSAGES]) this.addSql(statement);
  }
}

const ALERTS = `
create table identity_alert (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  -- Null: of the organization.
  project_id uuid references project(id) on delete cascade,
  identity_id uuid not null references identity(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  description text check (char_length(description) <= 1000),
  alert_before_days integer not null check (alert_before_days between 1 and 90),
  is_daily_reminder boolean not null default false,
  is_enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index identity_alert_name_unique on identity_alert (identity_id, project_id, name) nulls not distinct;
create index identity_alert_project_index on identity_alert (project_id, created_at desc, id desc);
create index identity_alert_organization_index on identity_alert (organization_id, created_at desc, id desc);`;

/** A config is sealed for its channel and its version, so that no older one can be put back. */
const CHANNELS = `
create table identity_alert_channel (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid references project(id) on delete cascade,
  alert_id uuid not null references identity_alert(id) on delete cascade,
  position integer not null,
  name text not null default '' check (char_length(name) <= 255),
  channel_type text not null check (channel_type in ('email', 'webhook', 'slack', 'pagerduty')),
  config_sealed bytea not null,
  config_version integer not null default 1,
  is_enabled boolean not null default true,
  tested_at timestamptz(3),
  test_error_code text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index identity_alert_channel_alert_index on identity_alert_channel (alert_id, position);
create index identity_alert_channel_project_index on identity_alert_channel (project_id);
create index identity_alert_channel_organization_index on identity_alert_channel (organization_id);`;

const MESSAGES = `
create trigger identity_alert_messages after delete on identity_alert
  referencing old table as removed for each statement execute function forget_messages();`;
