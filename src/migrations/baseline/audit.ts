/** Their rows are never changed. A partition has the trigger of its table. */
const APPEND_ONLY = [
  ...['audit_record', 'audit_disclosure', 'audit_seal', 'audit_expiry', 'audit_checkpoint'].map((table) => ({
    table,
    trigger: `${table}_append_only`,
  })),
  { table: 'audit_record_kept', trigger: 'audit_record_append_only' },
];

/** The audit trail, the chain of seals over it, and triggers by which neither is changed by mistake. */
export const AUDIT = `
-- The owner of a table can drop its triggers; what is changed then is found by the seals.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit trail is only ever added to' using errcode = 'insufficient_privilege';
end $$;

-- Rows that end are in a partition for each month in which they do, and dropped with it.
create table audit_record (
  sequence bigint not null generated always as identity (sequence name audit_record_sequence_seq1),
  -- Infinity, or the first day of the month in which the row may be dropped.
  expires_on date not null default 'infinity',
  id uuid not null,
  organization_id uuid not null,
  project_id uuid,
  occurred_at timestamptz(3) not null default now(),
  action text not null,
  outcome text not null check (outcome in ('allowed', 'denied')),
  actor_kind text not null,
  actor_id uuid not null,
  token_id uuid,
  request_id uuid not null,
  address inet,
  user_agent text,
  facts jsonb not null,
  mac bytea not null,
  -- 16 bytes: the secret. 32 bytes: a digest of audit_disclosure. Null: no value was in the response.
  disclosed bytea check (octet_length(disclosed) in (16, 32)),
  -- Null: not known.
  class text check (class in ('change', 'value-read', 'browse', 'denial')),
  -- What a change is about; null for reads, and for changes of many.
  subject_id uuid,
  primary key (sequence, expires_on)
) partition by list (expires_on);
create table audit_record_kept (
  like audit_record including defaults including constraints,
  check (expires_on = 'infinity'),
  primary key (sequence, expires_on)
);
create index audit_record_kept_request_index on audit_record_kept (request_id);
create index audit_record_kept_disclosed_index on audit_record_kept (disclosed, sequence) where disclosed is not null;
alter table audit_record attach partition audit_record_kept for values in ('infinity');

-- All end in the sequence, so that pages continue where the one before ended. Most have the partition of each row, so that a row that
-- they have found is read from there, and not looked for in every partition.
create index audit_record_request_index on audit_record (request_id);
create index audit_record_disclosed_index on audit_record (disclosed, sequence) where disclosed is not null;
create index audit_record_organization_index on audit_record (organization_id, sequence) include (expires_on);
create index audit_record_project_index on audit_record (project_id, sequence) include (expires_on) where project_id is not null;
create index audit_record_change_index on audit_record (project_id, sequence) include (expires_on) where class = 'change';
create index audit_record_organization_change_index on audit_record (organization_id, sequence) include (expires_on) where class = 'change';
create index audit_record_actor_index on audit_record (organization_id, actor_id, sequence) include (expires_on);
create index audit_record_action_index on audit_record (organization_id, action, sequence) include (expires_on);
create index audit_record_subject_index on audit_record (subject_id, sequence) include (expires_on) where subject_id is not null;
create index audit_record_denial_index on audit_record (organization_id, sequence) include (expires_on) where outcome = 'denied';

-- The same responses are sent again and again, so each list of secrets is stored once and named by its digest. Who read a secret is found
-- by its id in \`disclosed\`, and by the digests of the lists that hold it.
create table audit_disclosure (
  -- SHA-256 of the ids, 16 bytes each, in their order.
  digest bytea primary key check (octet_length(digest) = 32),
  ids uuid[] not null check (cardinality(ids) > 1)
);
-- Which lists hold a secret.
create index audit_disclosure_id_index on audit_disclosure using gin (ids);
-- Random ids do not compress.
alter table audit_disclosure alter column ids set storage external;

create table audit_seal (
  number bigint primary key check (number >= 1),
  -- Covers the rows above the one and up to the other; what was not there by then never comes.
  after_sequence bigint not null,
  last_sequence bigint not null check (after_sequence < last_sequence),
  -- For each row its sequence, 8 bytes, and a digest of its time and its MAC, 16 bytes.
  entries bytea not null check (octet_length(entries) > 0 and octet_length(entries) % 24 = 0),
  -- For each entry the month in which its row ends, 2 bytes, counted from 1970; 0: it is kept. Null: all are kept.
  expiries bytea check (octet_length(expiries) * 12 = octet_length(entries)),
  sealed_at timestamptz(3) not null,
  -- The MAC of the seal before.
  previous bytea not null check (octet_length(previous) = 32),
  mac bytea not null check (octet_length(mac) = 32)
);
create index audit_seal_time_index on audit_seal (sealed_at);
-- Digests do not compress.
alter table audit_seal alter column entries set storage external;
alter table audit_seal alter column expiries set storage external;

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

-- Makes the partition of a month, with the trigger that its table has. Only the owner of the trail can call it.
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
end $$;

-- Runs with the rights of the owner of the trail, and can add nothing but months to come. Inserts do not wait for it.
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
end $$;

-- Can drop nothing but a month that is past, and that a statement accounts for. It needs the whole table for a moment, and gives up soon:
-- inserts wait behind it.
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
end $$;

-- Names are looked up in our schema before those of a session's temporary tables, and nobody but their owner calls them uninvited.
do $$
declare
  name text;
begin
  foreach name in array array['make_audit_partition', 'add_audit_partition', 'drop_audit_partition'] loop
    execute format('alter function %I(date) set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %I(date) from public', name);
  end loop;
end $$;

-- Signed checkpoints of the trail of an organization. As the trail itself they stay when the organization is deleted.
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

-- Verifications that are started through the API.
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
create index audit_verification_list_index on audit_verification (organization_id, created_at, id);
${APPEND_ONLY.map(
  ({ table, trigger }) => `
create trigger ${trigger} before update or delete or truncate on ${table}
  for each statement execute function refuse_audit_change();
alter table ${table} enable always trigger ${trigger};`,
).join('')}
`;
