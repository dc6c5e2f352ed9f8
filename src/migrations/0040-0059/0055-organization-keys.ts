import { Migration } from '@mikro-orm/migrations';

/** Keys that organizations make for projects, beside the one that each has from its start. */
export class OrganizationKeys extends Migration {
  override up(): void {
    for (const statement of [KEYS, VERSIONS, DEFAULTS, PROJECTS]) this.addSql(statement);
  }
}

const KEYS = `
create table organization_key (
  -- That of its first version.
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 500),
  is_default boolean not null default false,
  version integer not null default 1,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint organization_key_name_unique unique (organization_id, name),
  -- It also seals values of the organization itself.
  constraint organization_key_default_enabled check (not is_default or disabled_at is null)
);
create unique index organization_key_default_unique on organization_key (organization_id) where is_default;
create index organization_key_disabled_index on organization_key (id) where disabled_at is not null;`;

/** Null: a version of the default key, or a key of a project. */
const VERSIONS = `
alter table data_key add column organization_key_id uuid references organization_key(id) on delete cascade;
create index data_key_organization_key_index on data_key (organization_key_id) where organization_key_id is not null;`;

const DEFAULTS = `
insert into organization_key (id, organization_id, name, is_default, created_at)
  select distinct on (organization_id) id, organization_id, 'default', true, created_at
  from data_key where project_id is null order by organization_id, created_at, id;`;

/** Until now this was the version of the key that was current when the project was created. */
const PROJECTS = `
update project set kms_secret_manager_key_id = k.id from organization_key k
  where k.organization_id = project.organization_id and k.is_default and project.kms_secret_manager_key_id <> k.id;`;
