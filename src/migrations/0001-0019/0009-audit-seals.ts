import { Migration } from '@mikro-orm/migrations';

/** The chain of seals over the audit trail, and triggers by which neither is changed by mistake. */
export class AuditSeals extends Migration {
  override up(): void {
    this.addSql(SEALS);
    this.addSql(APPEND_ONLY);
  }
}

const SEALS = `
create table audit_seal (
  number bigint primary key check (number >= 1),
  -- Covers the rows above the one and up to the other; what was not there by then never comes.
  after_sequence bigint not null,
  last_sequence bigint not null,
  -- For each row its sequence, 8 bytes, and a digest of its time and its MAC, 16 bytes.
  entries bytea not null check (octet_length(entries) > 0 and octet_length(entries) % 24 = 0),
  sealed_at timestamptz(3) not null,
  -- The MAC of the seal before.
  previous bytea not null check (octet_length(previous) = 32),
  mac bytea not null check (octet_length(mac) = 32),
  check (after_sequence < last_sequence)
);
-- Digests do not compress.
alter table audit_seal alter column entries set storage external;`;

/** The owner of a table can drop its triggers; what is changed then is found by the seals. */
const APPEND_ONLY = `
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit trail is only ever added to' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_record_append_only before update or delete or truncate on audit_record
  for each statement execute function refuse_audit_change();
create trigger audit_seal_append_only before update or delete or truncate on audit_seal
  for each statement execute function refuse_audit_change();
alter table audit_record enable always trigger audit_record_append_only;
alter table audit_seal enable always trigger audit_seal_append_only;`;
