import { Migration } from '@mikro-orm/migrations';

/** Projects get a new key, with which everything that is sealed for them is sealed anew. */
export class ProjectReencryptions extends Migration {
  override up(): void {
    for (const statement of [DESTROYED, REENCRYPTIONS]) this.addSql(statement);
  }
}

/** Of a destroyed key only the keys of its digests are left. */
const DESTROYED = `
alter table data_key add column destroyed_at timestamptz(3);
create index data_key_renewed_index on data_key (greatest(retired_at, destroyed_at)) where retired_at is not null;`;

const REENCRYPTIONS = `
create table project_reencryption (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  state text not null default 'running' check (state in ('running', 'paused', 'settling', 'done', 'cancelled')),
  -- Null: not counted yet.
  total_values integer,
  done_values integer not null default 0,
  unreadable_values integer not null default 0,
  destroyed_keys integer not null default 0,
  settling_since timestamptz(3),
  -- Transactions that were open then.
  settling_transactions text[] not null default '{}',
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check ((finished_at is not null) = (state in ('done', 'cancelled')))
);
create unique index project_reencryption_active_unique on project_reencryption (project_id) where finished_at is null;
create index project_reencryption_project_index on project_reencryption (project_id, created_at desc, id);
create index project_reencryption_organization_index on project_reencryption (organization_id);`;
