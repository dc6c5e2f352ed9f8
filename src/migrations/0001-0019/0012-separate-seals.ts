import { Migration } from '@mikro-orm/migrations';

/** Secrets and their versions are sealed differently from now on. Lists the projects whose rows the service still has to reseal. */
export class SeparateSeals extends Migration {
  override up(): void {
    this.addSql(PENDING);
  }
}

const PENDING = `
create table secret_reseal (
  project_id uuid primary key references project(id) on delete cascade,
  organization_id uuid not null references organization(id) on delete cascade
);
insert into secret_reseal (project_id, organization_id)
  select p.id, p.organization_id from project p
  where exists (select from secret s where s.project_id = p.id) or exists (select from secret_version v where v.project_id = p.id);`;
