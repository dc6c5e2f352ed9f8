import { Migration } from '@mikro-orm/migrations';

/** Records of the audit trail say what kind of event they are about, and indexes find them by what they name. */
export class AuditClasses extends Migration {
  override up(): void {
    this.addSql(COLUMNS);
    this.addSql(INDEXES);
  }
}

const COLUMNS = `
-- Null for rows of before.
alter table audit_record add column class text check (class in ('change', 'value-read', 'browse', 'denial')),
  -- What a change is about; null for reads, and for changes of many.
  add column subject_id uuid;`;

/** All end in the sequence, so that pages continue where the one before ended. */
const INDEXES = `
create index audit_record_project_index on audit_record (project_id, sequence) where project_id is not null;
create index audit_record_change_index on audit_record (project_id, sequence) where class = 'change';
create index audit_record_actor_index on audit_record (organization_id, actor_id, sequence);
create index audit_record_action_index on audit_record (organization_id, action, sequence);
create index audit_record_subject_index on audit_record (subject_id, sequence) where subject_id is not null;
create index audit_record_denial_index on audit_record (organization_id, sequence) where outcome = 'denied';
create index audit_record_disclosed_index on audit_record (disclosed, sequence) where disclosed is not null;
-- Which lists hold a secret.
create index audit_disclosure_id_index on audit_disclosure using gin (ids);`;
