import { Migration } from '@mikro-orm/migrations';

/** Credentials for external systems, of organizations and of projects. */
export class AppConnections extends Migration {
  override up(): void {
    this.addSql(CONNECTIONS);
  }
}

/** Secrets are sealed for their row and `credentials_version`, so that no older ones can be put back. */
const CONNECTIONS = `
create table app_connection (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  -- Null: of the organization.
  project_id uuid references project(id) on delete cascade,
  app text not null check (app in ('datatool', 'smb')),
  method text not null,
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 256),
  version integer not null default 1,
  public_part jsonb not null,
  credentials_sealed bytea not null,
  credentials_version integer not null default 1,
  -- A keyed digest of all credentials: changes only when they do.
  credentials_hash text not null,
  check_state text not null default 'unchecked' check (check_state in ('unchecked', 'working', 'failing')),
  check_code text,
  checked_at timestamptz(3),
  failing_since timestamptz(3),
  -- Checks in a row that failed.
  check_failures integer not null default 0,
  next_check_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index app_connection_name_unique on app_connection (organization_id, project_id, name) nulls not distinct;
create index app_connection_project_index on app_connection (project_id);
create index app_connection_check_index on app_connection (next_check_at);`;
