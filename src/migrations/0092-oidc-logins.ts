import { Migration } from '@mikro-orm/migrations';

/** Machine identities log in with the token of an OpenID Connect issuer, and a token keeps claims of its login. */
export class OidcLogins extends Migration {
  override up(): void {
    this.addSql(`
create table identity_oidc_auth (
  identity_id uuid primary key references identity(id) on delete cascade,
  -- Where the keys of the issuer are found; null where they are given.
  discovery_url text,
  -- A JSON Web Key Set, as text.
  keys text,
  ca_certificate text,
  issuer text not null,
  audiences text[] not null,
  subject text,
  claims jsonb not null,
  session_claims jsonb not null,
  is_single_use boolean not null,
  keys_usable_seconds integer not null check (keys_usable_seconds between 0 and 604800),
  trusted_ips cidr[] not null,
  ttl_seconds integer not null check (ttl_seconds between 0 and 315360000),
  max_ttl_seconds integer not null check (max_ttl_seconds between 0 and 315360000),
  num_uses_limit integer not null check (num_uses_limit >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint identity_oidc_auth_keys_check check (num_nonnulls(discovery_url, keys) = 1)
);

-- Tokens of issuers that logged somebody in and may not do so again, as long as they are valid.
create table used_login_token (
  identity_id uuid not null references identity_oidc_auth(identity_id) on delete cascade,
  token_hash bytea not null check (octet_length(token_hash) = 32),
  expires_at timestamptz(3) not null,
  constraint used_login_token_pkey primary key (identity_id, token_hash)
);
create index used_login_token_expires_at_index on used_login_token (expires_at);

alter table access_token
  drop constraint access_token_auth_method_check,
  add constraint access_token_auth_method_check check (auth_method in ('token-auth', 'universal-auth', 'oidc-auth', 'personal')),
  add column session_claims jsonb;`);
  }
}
