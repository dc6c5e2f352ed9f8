import { Migration } from '@mikro-orm/migrations';

/** Systems outside that get the audit trails of organizations. */
export class AuditSinks extends Migration {
  override up(): void {
    this.addSql(SINKS);
  }
}

/** A config is sealed for its row and its version, so that no older one can be put back. */
const SINKS = `
create table audit_sink (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  kind text not null check (kind in ('webhook', 'otlp')),
  is_enabled boolean not null default true,
  origin text not null,
  config_sealed bytea not null,
  config_version integer not null default 1,
  -- Everything up to this record and this change in it was received.
  position bigint not null,
  position_index integer not null,
  -- What was made before has been looked at.
  position_at timestamptz(3) not null default now(),
  failures integer not null default 0,
  next_attempt_at timestamptz(3),
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  last_failure text,
  last_status integer,
  rejected_records bigint not null default 0,
  rewound_at timestamptz(3),
  -- The newest expiration of records that is known to have concerned it.
  expiry_seen bigint not null default 0,
  is_reset_pending boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint audit_sink_name_unique unique (organization_id, name)
);
create index audit_sink_enabled_index on audit_sink (id) where is_enabled;`;
