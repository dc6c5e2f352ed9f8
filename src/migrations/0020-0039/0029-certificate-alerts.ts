import { Migration } from '@mikro-orm/migrations';

/** Who is notified of events of certificates, and through which channels. */
export class CertificateAlerts extends Migration {
  override up(): void {
    for (const statement of [ALERTS, CHANNELS]) this.addSql(statement);
  }
}

const ALERTS = `
create table certificate_alert (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  description text check (char_length(description) <= 1000),
  event_type text not null check (event_type in ('expiration', 'renewal', 'issuance', 'revocation')),
  alert_before text not null check (alert_before ~ '^[1-9][0-9]{0,3}[dwmy]$'),
  -- As they were given: { field, operator, value }.
  filters jsonb not null check (jsonb_typeof(filters) = 'array'),
  is_enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index certificate_alert_project_index on certificate_alert (project_id, created_at desc, id desc);
create index certificate_alert_organization_index on certificate_alert (organization_id);`;

/** A config is sealed for its channel and its version, so that no older one can be put back. */
const CHANNELS = `
create table certificate_alert_channel (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  alert_id uuid not null references certificate_alert(id) on delete cascade,
  position integer not null check (position between 1 and 10),
  channel_type text not null check (channel_type in ('email', 'webhook', 'slack', 'pagerduty')),
  config_sealed bytea not null,
  config_version integer not null default 1,
  is_enabled boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index certificate_alert_channel_alert_index on certificate_alert_channel (alert_id, position);
create index certificate_alert_channel_project_index on certificate_alert_channel (project_id);
create index certificate_alert_channel_organization_index on certificate_alert_channel (organization_id);`;
