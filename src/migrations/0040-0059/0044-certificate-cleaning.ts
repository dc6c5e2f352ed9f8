import { Migration } from '@mikro-orm/migrations';

/** Projects may delete certificates some time after they have expired. */
export class CertificateCleanings extends Migration {
  override up(): void {
    this.addSql(CLEANING);
  }
}

const CLEANING = `
create table certificate_cleaning (
  project_id uuid primary key references project(id) on delete cascade,
  organization_id uuid not null references organization(id) on delete cascade,
  days_after_expiry integer not null constraint certificate_cleaning_days_check check (days_after_expiry between 7 and 3650),
  updated_at timestamptz(3) not null default now()
);`;
