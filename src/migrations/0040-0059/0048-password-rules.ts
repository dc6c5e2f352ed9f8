import { Migration } from '@mikro-orm/migrations';

/** What generated passwords are like, by names that rotations use. */
export class PasswordRules extends Migration {
  override up(): void {
    for (const statement of [RULES, USES]) this.addSql(statement);
  }
}

const RULES = `
create table password_rule (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  description text check (char_length(description) <= 256),
  requirements jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint password_rule_name_unique unique (organization_id, name)
);`;

/** A rule stays as long as a rotation names it. */
const USES = `
alter table secret_rotation
  add column password_rule text generated always as (parameters ->> 'passwordRule') stored,
  add constraint secret_rotation_password_rule_fkey
    foreign key (organization_id, password_rule) references password_rule (organization_id, name);
create index secret_rotation_password_rule_index on secret_rotation (organization_id, password_rule)
  where password_rule is not null;`;
