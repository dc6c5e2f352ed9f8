/** Messages of everything that notifies, the ledger of what was sent, alerts and notices, and their channels. */
export const NOTIFICATIONS = `
-- What is sent at once, and fixed before: to one recipient of one channel, about one subject or many.
create table notification_message (
  -- Receivers know it by this: the id of an event, the dedup key of an incident, the Message-ID of a mail.
  id uuid primary key,
  organization_id uuid not null constraint alert_message_organization_id_fkey references organization(id) on delete cascade,
  project_id uuid constraint alert_message_project_id_fkey references project(id) on delete cascade,
  -- Which slice knows the channel and what to say.
  source text not null,
  owner_id uuid not null,
  -- A channel that was removed leaves its messages behind, for the history.
  channel_id uuid not null,
  channel_type text not null,
  -- A digest of the address; empty where the channel has no more than one.
  recipient bytea not null,
  event text not null,
  state text not null default 'pending'
    constraint alert_message_state_check check (state in ('pending', 'sent', 'failed', 'cancelled')),
  attempts integer not null default 0,
  next_at timestamptz(3),
  give_up_at timestamptz(3) not null,
  error_code text,
  created_at timestamptz(3) not null default now(),
  -- When a check last found what it is about, or somebody last retried it.
  found_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  constraint alert_message_check check ((next_at is not null) = (state = 'pending')),
  constraint alert_message_check1 check ((ended_at is null) = (state = 'pending')),
  constraint notification_message_event_check
    check (source <> 'certificate-alert' or event in ('expiration', 'renewal', 'issuance', 'revocation'))
);
create index notification_message_next_index on notification_message (channel_id, next_at, id) where next_at is not null;
create index notification_message_owner_index on notification_message (owner_id, created_at desc, id desc);
create index notification_message_found_index on notification_message (owner_id, found_at desc);
create index notification_message_owner_unsent_index on notification_message (owner_id, created_at) where state <> 'sent';
create index notification_message_channel_index on notification_message (channel_id, created_at desc, id desc);
create index notification_message_project_index on notification_message (project_id, created_at desc, id desc);
create index notification_message_unsent_index on notification_message (project_id, state, ended_at, id) where state <> 'sent';
create index notification_message_organization_index on notification_message (organization_id);

-- The ledger: each key once, whoever writes it and however often. Written before anything is sent.
create table notification_delivery (
  message_id uuid not null constraint alert_delivery_message_id_fkey references notification_message(id) on delete cascade,
  subject_id uuid not null,
  owner_id uuid not null,
  channel_id uuid not null,
  recipient bytea not null,
  event text not null,
  -- The day of a daily reminder; else empty.
  occurrence text not null default '',
  primary key (message_id, subject_id),
  constraint notification_delivery_key unique (owner_id, subject_id, event, channel_id, recipient, occurrence)
);
create index notification_delivery_subject_index on notification_delivery (subject_id);

-- In place of foreign keys, since owners and subjects are of many tables.
create function forget_messages() returns trigger language plpgsql as $$
begin
  delete from notification_message where owner_id in (select id from removed);
  return null;
end $$;
create function forget_deliveries() returns trigger language plpgsql as $$
begin
  delete from notification_delivery where subject_id in (select id from removed);
  return null;
end $$;

-- Alerts on events of certificates. With a daily reminder, of a certificate every day until it is dealt with.
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
  is_daily_reminder boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_alert_reminder_check check (not is_daily_reminder or event_type = 'expiration')
);
create index certificate_alert_project_index on certificate_alert (project_id, created_at desc, id desc);
create index certificate_alert_organization_index on certificate_alert (organization_id);
create trigger certificate_alert_messages after delete on certificate_alert
  referencing old table as removed for each statement execute function forget_messages();

-- A config of a channel is sealed for its row and its version, so that no older one can be put back.
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
  tested_at timestamptz(3),
  test_error_code text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index certificate_alert_channel_alert_index on certificate_alert_channel (alert_id, position);
create index certificate_alert_channel_project_index on certificate_alert_channel (project_id);
create index certificate_alert_channel_organization_index on certificate_alert_channel (organization_id);

-- Channels of the notices of a project.
create table notification_channel (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  -- Empty: of every kind.
  kinds text[] not null default '{}',
  channel_type text not null check (channel_type in ('email', 'webhook', 'slack', 'pagerduty')),
  config_sealed bytea not null,
  config_version integer not null default 1,
  is_enabled boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint notification_channel_name_unique unique (project_id, name)
);
create index notification_channel_organization_index on notification_channel (organization_id);

-- What happened, or is to be reminded of, in a project or organization.
create table notice (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid references project(id) on delete cascade,
  -- The project, or the organization where there is none.
  owner_id uuid not null,
  kind text not null,
  subject_id uuid not null,
  -- The day of something that is repeated, or another name of what happened.
  occurrence text not null,
  facts jsonb not null,
  created_at timestamptz(3) not null default now(),
  -- When its messages were written.
  told_at timestamptz(3),
  constraint notice_key unique (owner_id, kind, subject_id, occurrence)
);
create index notice_untold_index on notice (owner_id, created_at, id) where told_at is null;
create index notice_project_index on notice (project_id);
create index notice_organization_index on notice (organization_id);
create trigger notice_deliveries after delete on notice
  referencing old table as removed for each statement execute function forget_deliveries();

-- Alerts on credentials of machine identities that expire.
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
create index identity_alert_organization_index on identity_alert (organization_id, created_at desc, id desc);
create trigger identity_alert_messages after delete on identity_alert
  referencing old table as removed for each statement execute function forget_messages();

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
create index identity_alert_channel_organization_index on identity_alert_channel (organization_id);
`;
