import { Migration } from '@mikro-orm/migrations';

/** Signed checkpoints of the audit trail of organizations, and seals that are found by their time. */
export class AuditCheckpoints extends Migration {
  override up(): void {
    this.addSql(CHECKPOINTS);
    this.addSql(`create index audit_seal_time_index on audit_seal (sealed_at)`);
  }
}

/** As the trail itself they stay when their organization is deleted. */
const CHECKPOINTS = `
create table audit_checkpoint (
  id uuid primary key,
  organization_id uuid not null,
  number integer not null check (number >= 1),
  -- Place of the first event among all of the organization, from 1.
  first_event bigint not null check (first_event >= 1),
  event_count integer not null check (event_count >= 0),
  -- It covers the rows of the organization up to here that the one before does not.
  last_sequence bigint not null,
  -- SHA-256 of the lines of the events in an export.
  digest bytea not null check (octet_length(digest) = 32),
  -- Hash of the checkpoint before.
  previous bytea not null check (octet_length(previous) = 32),
  public_key bytea not null check (octet_length(public_key) = 32),
  signature bytea not null check (octet_length(signature) = 64),
  created_at timestamptz(3) not null,
  constraint audit_checkpoint_number_unique unique (organization_id, number)
);
create trigger audit_checkpoint_append_only before update or delete or truncate on audit_checkpoint
  for each statement execute function refuse_audit_change();
alter table audit_checkpoint enable always trigger audit_checkpoint_append_only;`;
