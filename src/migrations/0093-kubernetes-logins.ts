import { Migration } from '@mikro-orm/migrations';

/** Machine identities log in with the token of a Kubernetes service account, which its cluster reviews. */
export class KubernetesLogins extends Migration {
  override up(): void {
    this.addSql(`
create table identity_kubernetes_auth (
  identity_id uuid primary key references identity(id) on delete cascade,
  host text not null,
  ca_certificate text,
  -- Null: a token that logs in asks for its own review.
  reviewer_token_sealed bytea,
  reviewer_token_version integer not null default 0,
  namespaces text[] not null,
  names text[] not null,
  audience text,
  trusted_ips cidr[] not null,
  ttl_seconds integer not null check (ttl_seconds between 0 and 315360000),
  max_ttl_seconds integer not null check (max_ttl_seconds between 0 and 315360000),
  num_uses_limit integer not null check (num_uses_limit >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

alter table access_token
  drop constraint access_token_auth_method_check,
  add constraint access_token_auth_method_check
    check (auth_method in ('token-auth', 'universal-auth', 'oidc-auth', 'kubernetes-auth', 'personal'));`);
  }
}
