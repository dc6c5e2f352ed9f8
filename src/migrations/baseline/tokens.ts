/** How machine identities log in, the tokens of all, and what their requests were answered. */
export const TOKENS = `
create table identity_token_auth (
  identity_id uuid primary key references identity(id) on delete cascade,
  trusted_ips cidr[] not null,
  ttl_seconds integer not null check (ttl_seconds between 0 and 315360000),
  max_ttl_seconds integer not null check (max_ttl_seconds between 0 and 315360000),
  num_uses_limit integer not null check (num_uses_limit >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table identity_universal_auth (
  identity_id uuid primary key references identity(id) on delete cascade,
  client_id uuid not null,
  client_secret_trusted_ips cidr[] not null,
  trusted_ips cidr[] not null,
  ttl_seconds integer not null check (ttl_seconds between 0 and 315360000),
  max_ttl_seconds integer not null check (max_ttl_seconds between 0 and 315360000),
  num_uses_limit integer not null check (num_uses_limit >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint identity_universal_auth_client_id_unique unique (client_id)
);

create table universal_auth_client_secret (
  id uuid primary key,
  identity_id uuid not null,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  -- The first characters after the mark of all client secrets, by which people tell them apart.
  prefix text not null check (char_length(prefix) = 4),
  description text not null check (char_length(description) <= 255),
  ttl_seconds integer not null check (ttl_seconds between 0 and 315360000),
  num_uses_limit integer not null check (num_uses_limit >= 0),
  num_uses bigint not null default 0,
  expires_at timestamptz(3),
  is_revoked boolean not null default false,
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint universal_auth_client_secret_hash_unique unique (secret_hash),
  constraint universal_auth_client_secret_config_fk foreign key (identity_id)
    references identity_universal_auth (identity_id) on delete cascade
) with (fillfactor = 80);
create index universal_auth_client_secret_list_index on universal_auth_client_secret (identity_id, created_at desc, id);
create index universal_auth_client_secret_expiring_index on universal_auth_client_secret (expires_at, id) where not is_revoked;

create table access_token (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  identity_id uuid references identity(id) on delete cascade,
  user_id uuid references app_user(id) on delete cascade,
  auth_method text not null check (auth_method in ('token-auth', 'universal-auth', 'personal')),
  name text check (char_length(name) <= 64),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  ttl_seconds integer not null,
  max_ttl_seconds integer not null,
  num_uses_limit integer not null,
  num_uses bigint not null default 0,
  period_seconds integer not null default 0,
  expires_at timestamptz(3),
  is_revoked boolean not null default false,
  last_used_at timestamptz(3),
  last_renewed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Deferred, because a deletion takes the client secret and its tokens by two ways.
  client_secret_id uuid
    constraint access_token_client_secret_fk references universal_auth_client_secret(id) deferrable initially deferred,
  -- The token of the same actor by which it was made. What deletes that one deletes it too.
  maker_id uuid
    constraint access_token_maker_fk references access_token(id) on delete cascade,
  constraint access_token_hash_unique unique (token_hash),
  constraint access_token_one_owner check (num_nonnulls(user_id, identity_id) = 1),
  constraint access_token_client_secret_check check ((auth_method = 'universal-auth') = (client_secret_id is not null))
) with (fillfactor = 80);
create index access_token_identity_index on access_token (identity_id, updated_at desc, id);
create index access_token_user_index on access_token (user_id, updated_at desc, id);
create index access_token_client_secret_index on access_token (client_secret_id) where client_secret_id is not null;
create index access_token_maker_index on access_token (maker_id) where maker_id is not null;
create index access_token_organization_index on access_token (organization_id, updated_at desc, id);
create index access_token_expiring_index on access_token (expires_at, id)
  where auth_method = 'token-auth' and identity_id is not null and not is_revoked;

create table idempotency_key (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  -- Not a foreign key: a request may delete the account of its own token.
  token_id uuid not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  -- Keyed: the request may hold a value that could be guessed.
  request_hash bytea not null check (octet_length(request_hash) = 32),
  request_id uuid not null,
  -- Rises when a key is taken over, so that its former owner changes nothing any more.
  fence integer not null default 1,
  claimed_at timestamptz(3) not null default now(),
  -- Set by the transaction that makes the effect.
  effective_at timestamptz(3),
  answered_at timestamptz(3),
  answer_sealed bytea,
  is_withheld boolean not null default false,
  withheld_ids uuid[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  constraint idempotency_key_unique unique (token_id, key_hash)
);
create index idempotency_key_age_index on idempotency_key (created_at);
create index idempotency_key_organization_index on idempotency_key (organization_id);
`;
