import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes of the audit trail have the partition of each row, so that a row that they have found is read from there, and not looked for in
 * every partition. One more finds the changes of an organization, for those who follow them.
 */
export class AuditIndexes extends Migration {
  override up(): void {
    this.addSql(INDEXES);
  }
}

const INDEXES = `
drop index audit_record_organization_index;
drop index audit_record_project_index;
drop index audit_record_change_index;
drop index audit_record_actor_index;
drop index audit_record_action_index;
drop index audit_record_subject_index;
drop index audit_record_denial_index;
create index audit_record_organization_index on audit_record (organization_id, sequence) include (expires_on);
create index audit_record_project_index on audit_record (project_id, sequence) include (expires_on) where project_id is not null;
create index audit_record_change_index on audit_record (project_id, sequence) include (expires_on) where class = 'change';
create index audit_record_organization_change_index on audit_record (organization_id, sequence) include (expires_on) where class = 'change';
create index audit_record_actor_index on audit_record (organization_id, actor_id, sequence) include (expires_on);
create index audit_record_action_index on audit_record (organization_id, action, sequence) include (expires_on);
create index audit_record_subject_index on audit_record (subject_id, sequence) include (expires_on) where subject_id is not null;
create index audit_record_denial_index on audit_record (organization_id, sequence) include (expires_on) where outcome = 'denied';`;
