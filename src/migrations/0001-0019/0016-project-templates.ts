import { Migration } from '@mikro-orm/migrations';

/** Templates of projects, their versions, and which version a project was made from. */
export class ProjectTemplates extends Migration {
  override up(): void {
    for (const statement of [TEMPLATES, VERSIONS, ORIGIN]) this.addSql(statement);
  }
}

/** Lists as they were given: { name, slug, rules }, { name, slug, position }, { id, roles } and { name, roles }. */
const CONTENT = `
  name text not null check (char_length(name) between 1 and 64),
  description text not null default '' check (char_length(description) <= 256),
  roles jsonb not null,
  -- Null: whoever makes a project says whether it has the default ones.
  environments jsonb,
  users jsonb not null,
  groups jsonb not null,
  identities jsonb not null,
  project_managed_identities jsonb not null`;

const TEMPLATES = `
create table project_template (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  type text not null check (char_length(type) between 1 and 32),
  version integer not null default 1,
  ${CONTENT},
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_template_name_unique unique (organization_id, name),
  constraint project_template_is_not_built_in check (name <> 'default')
);`;

const VERSIONS = `
create table project_template_version (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  template_id uuid not null references project_template(id) on delete cascade,
  version integer not null,
  ${CONTENT},
  actor_kind text not null,
  actor_id uuid not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_template_version_unique unique (template_id, version)
);
create index project_template_version_organization_index on project_template_version (organization_id);`;

const ORIGIN = `
alter table project
  add column template_id uuid,
  add column template_version integer,
  add constraint project_template_version_fk foreign key (template_id, template_version)
    references project_template_version (template_id, version) on delete set null;
create index project_template_index on project (template_id, template_version) where template_id is not null;`;
