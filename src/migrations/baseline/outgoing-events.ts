/** How far one has received the audit trail. A config is sealed for its row and its version, so that no older one can be put back. */
const FOLLOWING = `is_enabled boolean not null default true,
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
  is_reset_pending boolean not null default false`;

/** Where changes are sent: webhooks of projects, and sinks of the audit trails of organizations. */
export const OUTGOING_EVENTS = `
create table change_webhook (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  ${FOLLOWING},
  -- Empty: of every kind.
  kinds text[] not null default '{}',
  environment text,
  secret_path text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint change_webhook_name_unique unique (project_id, name)
);
create index change_webhook_organization_index on change_webhook (organization_id);
create index change_webhook_enabled_index on change_webhook (id) where is_enabled;

create table audit_sink (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  ${FOLLOWING},
  kind text not null check (kind in ('webhook', 'otlp')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint audit_sink_name_unique unique (organization_id, name)
);
create index audit_sink_enabled_index on audit_sink (id) where is_enabled;
`;
