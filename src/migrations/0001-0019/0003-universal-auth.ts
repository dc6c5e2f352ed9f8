import { Migration } from '@mikro-orm/migrations';

/** Machine identities that log in with a client id and a client secret. */
export class UniversalAuth extends Migration {
  override up(): void {
    for (const statements of [CONFIGURATION, CLIENT_SECRETS, TOKENS]) this.addSql(statements);
  }
}

const CONFIGURATION = `
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
);`;

const CLIENT_SECRETS = `
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
create index universal_auth_client_secret_list_index on universal_auth_client_secret (identity_id, created_at desc, id);`;

const TOKENS = `
alter table access_token drop constraint access_token_auth_method_check;
alter table access_token add constraint access_token_auth_method_check
  check (auth_method in ('token-auth', 'universal-auth', 'personal'));
-- Deferred, because a deletion takes the client secret and its tokens by two ways.
alter table access_token add column client_secret_id uuid
  constraint access_token_client_secret_fk references universal_auth_client_secret(id) deferrable initially deferred;
alter table access_token add constraint access_token_client_secret_check
  check ((auth_method = 'universal-auth') = (client_secret_id is not null));
create index access_token_client_secret_index on access_token (client_secret_id) where client_secret_id is not null;`;
