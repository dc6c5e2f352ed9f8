import { Migration } from '@mikro-orm/migrations';

/** Authorities of projects, and their inventory of certificates. */
export class Certificates extends Migration {
  override up(): void {
    for (const statement of [AUTHORITIES, CERTIFICATES]) this.addSql(statement);
  }
}

/** Keys are sealed for their row. What is pending has a request, and no certificate yet. */
const AUTHORITIES = `
create table certificate_authority (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 64),
  kind text not null check (kind in ('root', 'intermediate')),
  status text not null check (status in ('active', 'disabled', 'pending')),
  parent_id uuid,
  subject text not null,
  common_name text not null,
  key_algorithm text not null,
  key_sealed bytea not null,
  -- PEM. The chain is of its issuers, from the next one up.
  request text,
  certificate text,
  chain text not null default '',
  serial_number text,
  not_before timestamptz(3),
  not_after timestamptz(3),
  max_path_length integer check (max_path_length >= 0),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_authority_name_unique unique (project_id, name),
  constraint certificate_authority_place_unique unique (id, project_id),
  constraint certificate_authority_parent_fk foreign key (parent_id, project_id) references certificate_authority (id, project_id),
  constraint certificate_authority_pending_check check (case status
    when 'pending' then request is not null and certificate is null
    else certificate is not null and serial_number is not null and not_before is not null and not_after is not null end)
);
create index certificate_authority_parent_index on certificate_authority (parent_id);
create index certificate_authority_organization_index on certificate_authority (organization_id);`;

/** Keys are sealed for their row. Renewals have the lineage of what they renew; the first one's is its own id. */
const CERTIFICATES = `
create table certificate (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  authority_id uuid,
  profile_slug text,
  lineage_id uuid not null,
  renewed_from_id uuid references certificate(id) on delete set null,
  source text not null check (source in ('imported', 'issued')),
  common_name text not null,
  sans text[] not null,
  serial_number text not null,
  status text not null default 'active' check (status in ('active', 'revoked')),
  revoked_at timestamptz(3),
  revocation_reason text,
  not_before timestamptz(3) not null,
  not_after timestamptz(3) not null,
  key_algorithm text not null,
  fingerprint_sha256 text not null,
  -- PEM. The chain is of its issuers, from the next one up.
  certificate text not null,
  chain text not null default '',
  key_sealed bytea,
  is_ca boolean not null,
  -- { key, value }, as given.
  metadata jsonb not null default '[]' check (jsonb_typeof(metadata) = 'array'),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_fingerprint_unique unique (project_id, fingerprint_sha256),
  constraint certificate_authority_fk foreign key (authority_id, project_id) references certificate_authority (id, project_id),
  constraint certificate_revocation_check check ((status = 'revoked') = (revoked_at is not null)
    and (status = 'revoked') = (revocation_reason is not null))
);
create index certificate_expiry_index on certificate (project_id, not_after, id);
create index certificate_serial_index on certificate (project_id, serial_number);
create index certificate_common_name_index on certificate (project_id, common_name);
create index certificate_lineage_index on certificate (lineage_id);
create index certificate_authority_index on certificate (authority_id);
create index certificate_renewed_from_index on certificate (renewed_from_id);
create index certificate_organization_index on certificate (organization_id);`;
