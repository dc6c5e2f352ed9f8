import { Migration } from '@mikro-orm/migrations';

/** Roles that projects make for themselves. Memberships name them by slug, beside the built-in ones. */
export class ProjectRoles extends Migration {
  override up(): void {
    this.addSql(ROLES);
  }
}

const ROLES = `
create table project_role (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  name text not null check (char_length(name) between 1 and 64),
  description text not null default '' check (char_length(description) <= 1024),
  -- Rules in order, { subject, action: [...], inverted?, conditions? }: later ones win.
  permissions jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint project_role_slug_unique unique (project_id, slug),
  -- These name the roles that every project has, which are no rows.
  constraint project_role_is_not_built_in check (slug not in ('admin', 'member', 'viewer', 'no-access', 'custom'))
);`;
