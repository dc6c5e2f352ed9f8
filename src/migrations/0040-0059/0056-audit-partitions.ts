import { Migration } from '@mikro-orm/migrations';

/** Rows of the audit trail that end are kept in a partition for each month in which they end, and dropped with it. */
export class AuditPartitions extends Migration {
  override up(): void {
    this.addSql(KEPT);
    this.addSql(PARTITIONED);
    this.addSql(INDEXES);
    this.addSql(EXPIRIES);
    this.addSql(MAKE);
    this.addSql(ADD);
    this.addSql(DROP);
    this.addSql(FUNCTIONS);
  }
}

/** The table of before becomes the partition of rows that are kept for ever. No row is copied; its indexes are taken over. */
const KEPT = `
alter table audit_record rename to audit_record_kept;
alter table audit_record_kept add column expires_on date not null default 'infinity' check (expires_on = 'infinity');
alter table audit_record_kept drop constraint audit_record_pkey;
alter table audit_record_kept add constraint audit_record_kept_pkey primary key (sequence, expires_on);
do $$
declare
  name text;
begin
  for name in select indexname from pg_indexes
    where schemaname = current_schema() and tablename = 'audit_record_kept' and indexname ~ '^audit_record_.*_index$'
  loop
    execute format('alter index %I rename to %I', name, replace(name, 'audit_record_', 'audit_record_kept_'));
  end loop;
end $$;`;

/** Sequences go on where they were, and are drawn by the whole table. */
const PARTITIONED = `
create table audit_record (
  sequence bigint not null generated always as identity,
  id uuid not null,
  organization_id uuid not null,
  project_id uuid,
  occurred_at timestamptz(3) not null default now(),
  action text not null,
  outcome text not null constraint audit_record_outcome_check check (outcome in ('allowed', 'denied')),
  actor_kind text not null,
  actor_id uuid not null,
  token_id uuid,
  request_id uuid not null,
  address inet,
  user_agent text,
  facts jsonb not null,
  mac bytea not null,
  disclosed bytea constraint audit_record_disclosed_check check (octet_length(disclosed) in (16, 32)),
  class text constraint audit_record_class_check check (class in ('change', 'value-read', 'browse', 'denial')),
  subject_id uuid,
  -- Infinity, or the first day of the month in which the row may be dropped.
  expires_on date not null default 'infinity',
  primary key (sequence, expires_on)
) partition by list (expires_on);
do $$
declare
  last bigint := pg_sequence_last_value(pg_get_serial_sequence('audit_record_kept', 'sequence')::regclass);
begin
  alter table audit_record_kept alter column sequence drop identity;
  if last is not null then
    perform setval(pg_get_serial_sequence('audit_record', 'sequence')::regclass, last);
  end if;
end $$;
alter table audit_record attach partition audit_record_kept for values in ('infinity');
create trigger audit_record_append_only before update or delete or truncate on audit_record
  for each statement execute function refuse_audit_change();
alter table audit_record enable always trigger audit_record_append_only;`;

/** Those of the partitions are found to be the same, and become part of these. */
const INDEXES = `
create index audit_record_organization_index on audit_record (organization_id, sequence desc);
create index audit_record_request_index on audit_record (request_id);
create index audit_record_project_index on audit_record (project_id, sequence) where project_id is not null;
create index audit_record_change_index on audit_record (project_id, sequence) where class = 'change';
create index audit_record_actor_index on audit_record (organization_id, actor_id, sequence);
create index audit_record_action_index on audit_record (organization_id, action, sequence);
create index audit_record_subject_index on audit_record (subject_id, sequence) where subject_id is not null;
create index audit_record_denial_index on audit_record (organization_id, sequence) where outcome = 'denied';
create index audit_record_disclosed_index on audit_record (disclosed, sequence) where disclosed is not null;`;

const EXPIRIES = `
-- Months that rows can end in. Rows that would end in another month are kept for ever.
create table audit_partition (expires_on date primary key);
-- What was dropped, and when.
create table audit_expiry (
  expires_on date primary key,
  rows bigint not null check (rows >= 0),
  -- SHA-256 of the entries of its rows, as seals have them, by rising sequence.
  digest bytea not null check (octet_length(digest) = 32),
  expired_at timestamptz(3) not null,
  mac bytea not null check (octet_length(mac) = 32)
);
create trigger audit_expiry_append_only before update or delete or truncate on audit_expiry
  for each statement execute function refuse_audit_change();
alter table audit_expiry enable always trigger audit_expiry_append_only;
-- For each entry the month in which its row ends, 2 bytes, counted from 1970; 0: it is kept. Null: all are kept.
alter table audit_seal add column expiries bytea check (octet_length(expiries) * 12 = octet_length(entries));
alter table audit_seal alter column expiries set storage external;`;

/** Makes the partition of a month, with the trigger that its table has. Only the owner of the trail can call it. */
const MAKE = `
create function make_audit_partition(month date) returns void language plpgsql as $$
declare
  name text := 'audit_record_' || to_char(month, 'YYYY_MM');
begin
  execute format('create table %I (like audit_record including defaults including constraints including indexes)', name);
  execute format('create trigger audit_record_append_only before update or delete or truncate on %I
    for each statement execute function refuse_audit_change()', name);
  execute format('alter table %I enable always trigger audit_record_append_only', name);
  -- The attached table is not locked for who inserts into others.
  execute format('alter table audit_record attach partition %I for values in (%L)', name, month);
  insert into audit_partition (expires_on) values (month);
end $$;`;

/** Runs with the rights of the owner of the trail, and can add nothing but months to come. Inserts do not wait for it. */
const ADD = `
create function add_audit_partition(month date) returns void language plpgsql security definer set lock_timeout = '2s' as $$
begin
  if month is null or month <> date_trunc('month', month)::date or month <= (now() at time zone 'UTC')::date
    or month > (now() at time zone 'UTC')::date + 4000 then
    raise exception 'not the first day of a month to come' using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(7266003);
  if not exists (select from audit_partition where expires_on = month) then
    perform make_audit_partition(month);
  end if;
end $$;`;

/**
 * Can drop nothing but a month that is past, and that a statement accounts for. It needs the whole table for a moment, and gives up
 * soon: inserts wait behind it.
 */
const DROP = `
create function drop_audit_partition(month date) returns void language plpgsql security definer set lock_timeout = '300ms' as $$
begin
  if month is null or month > (now() at time zone 'UTC')::date then
    raise exception 'the month is not past' using errcode = 'invalid_parameter_value';
  end if;
  if not exists (select from audit_expiry where expires_on = month) then
    raise exception 'no statement accounts for its rows' using errcode = 'invalid_parameter_value';
  end if;
  delete from audit_partition where expires_on = month;
  if not found then
    raise exception 'there is no such month' using errcode = 'invalid_parameter_value';
  end if;
  execute format('drop table %I', 'audit_record_' || to_char(month, 'YYYY_MM'));
end $$;`;

/** Names are looked up in our schema before those of a session's temporary tables, and nobody but their owner calls them uninvited. */
const FUNCTIONS = `
do $$
declare
  name text;
begin
  foreach name in array array['make_audit_partition', 'add_audit_partition', 'drop_audit_partition'] loop
    execute format('alter function %I(date) set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %I(date) from public', name);
  end loop;
end $$;`;
