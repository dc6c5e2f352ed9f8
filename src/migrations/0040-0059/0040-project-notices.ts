import { Migration } from '@mikro-orm/migrations';

/** Notifications of projects and organizations, and their channels. */
export class ProjectNotices extends Migration {
  override up(): void {
    for (const statement of [CHANNELS, NOTICES]) this.addSql(statement);
  }
}

/** A config is sealed for its channel and its version, so that no older one can be put back. */
const CHANNELS = `
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
create index notification_channel_organization_index on notification_channel (organization_id);`;

const NOTICES = `
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
  referencing old table as removed for each statement execute function forget_deliveries();`;
