/** What there is once, and counts that need no organization. */
export const INSTALLATION = `
-- One row, which ties the database to its root key.
create table installation (
  id smallint primary key default 1 check (id = 1),
  key_check_value bytea not null check (octet_length(key_check_value) = 16),
  -- Keys that stay the same when the root key changes.
  kept_keys_sealed bytea,
  -- Of a root key that is encrypted outside, and of the one that it is about to change to.
  wrapped_root_key text,
  next_wrapped_root_key text,
  created_at timestamptz(3) not null default now()
);

-- A statement can refuse what it was sent for, so that it may be sent with the commit behind it.
create function require_rule(rule text, holds boolean) returns boolean language plpgsql as $$
begin
  if not holds then
    raise exception 'a rule of this statement does not hold' using errcode = 'check_violation', constraint = rule;
  end if;
  return true;
end $$;

-- What the nodes have counted. Unlogged: a crash of Postgres may forget a minute of counts, and none of them is worth a write to its log.
create unlogged table rate_limit_count (
  -- A MAC of who is limited in what: an address is personal.
  bucket bytea not null check (octet_length(bucket) = 16),
  -- Which part of time, in twelfths of the window since 1970.
  slot bigint not null,
  amount integer not null,
  expires_at timestamptz(3) not null,
  primary key (bucket, slot)
);
create index rate_limit_count_expiry_index on rate_limit_count (expires_at);
`;
