import { Migration } from '@mikro-orm/migrations';

/** Verifications of the audit trail that are started through the API. */
export class AuditVerifications extends Migration {
  override up(): void {
    this.addSql(VERIFICATIONS);
  }
}

const VERIFICATIONS = `
create table audit_verification (
  id uuid primary key,
  -- From which it was started: a verification is about all of them.
  organization_id uuid not null references organization(id) on delete cascade,
  -- Says how far it is. Jobs are deleted earlier.
  job_id uuid not null,
  anchors text[] not null,
  created_at timestamptz(3) not null default now(),
  row_count bigint check (row_count >= 0),
  checked_count bigint not null default 0 check (checked_count >= 0),
  finished_at timestamptz(3),
  verdict jsonb,
  constraint audit_verification_verdict_check check ((verdict is null) = (finished_at is null))
);
create index audit_verification_list_index on audit_verification (organization_id, created_at, id);`;
