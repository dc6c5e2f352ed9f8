import { Migration } from '@mikro-orm/migrations';

/** What certificates may be, who issues them, what was asked for, and what became of it. */
export class CertificateProfiles extends Migration {
  override up(): void {
    for (const statement of [PROFILES, CERTIFICATES, REQUESTS]) this.addSql(statement);
  }
}

const PROFILES = `
create table certificate_profile (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  slug text not null check (char_length(slug) between 1 and 64),
  description text check (char_length(description) <= 1000),
  authority_id uuid not null,
  -- What it says of certificates: null where it says nothing, which is not the same as an empty list.
  rules jsonb not null check (jsonb_typeof(rules) = 'object'),
  renew_before_days integer check (renew_before_days >= 0),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_profile_slug_unique unique (project_id, slug),
  constraint certificate_profile_authority_fk foreign key (authority_id, project_id) references certificate_authority (id, project_id)
);
create index certificate_profile_authority_index on certificate_profile (authority_id);
create index certificate_profile_organization_index on certificate_profile (organization_id);`;

/** A certificate is renewed once: its renewals are a chain. Who has no days of its own is renewed as its profile says. */
const CERTIFICATES = `
alter table certificate add column profile_id uuid references certificate_profile(id) on delete set null;
alter table certificate add column renew_before_days integer check (renew_before_days >= 0);
alter table certificate add constraint certificate_serial_unique unique (authority_id, serial_number);
drop index certificate_renewed_from_index;
drop index certificate_authority_index;
alter table certificate add constraint certificate_renewed_from_unique unique (renewed_from_id);
create index certificate_profile_index on certificate (profile_id);`;

/** Of one that the service itself makes, only one waits for each certificate. */
const REQUESTS = `
create table certificate_request (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  kind text not null check (kind in ('issuance', 'renewal')),
  state text not null check (state in ('pending', 'issued', 'failed')),
  is_automatic boolean not null,
  actor_kind text not null,
  actor_id uuid not null,
  profile_slug text,
  common_name text not null,
  -- Which certificate is to be renewed, and which was made.
  certificate_id uuid references certificate(id) on delete cascade,
  issued_certificate_id uuid references certificate(id) on delete set null,
  error_code text,
  -- { path, message }: what was wrong with it. Nothing that a caller sent.
  faults jsonb not null default '[]' check (jsonb_typeof(faults) = 'array'),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  constraint certificate_request_end_check check ((state = 'pending') = (ended_at is null)),
  constraint certificate_request_error_check check ((state = 'failed') = (error_code is not null))
);
create unique index certificate_request_pending_unique on certificate_request (certificate_id) where state = 'pending';
create index certificate_request_list_index on certificate_request (project_id, created_at desc, id);
create index certificate_request_certificate_index on certificate_request (certificate_id, created_at desc);
create index certificate_request_issued_index on certificate_request (issued_certificate_id);
create index certificate_request_ended_index on certificate_request (ended_at);
create index certificate_request_organization_index on certificate_request (organization_id);`;
