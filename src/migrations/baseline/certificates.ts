/** Certificate authorities of projects, profiles, the inventory of certificates, requests and revocations. */
export const CERTIFICATES = `
-- Keys are sealed for their row. What is pending has a request, and no certificate yet.
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
  predecessor_id uuid,
  revoked_at timestamptz(3),
  revocation_reason text,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_authority_name_unique unique (project_id, name),
  constraint certificate_authority_place_unique unique (id, project_id),
  constraint certificate_authority_parent_fk foreign key (parent_id, project_id) references certificate_authority (id, project_id),
  constraint certificate_authority_pending_check check (case status
    when 'pending' then request is not null and certificate is null
    else certificate is not null and serial_number is not null and not_before is not null and not_after is not null end),
  constraint certificate_authority_revocation_check check ((revoked_at is null) = (revocation_reason is null)
    and (revoked_at is null or status = 'disabled')),
  constraint certificate_authority_predecessor_fk foreign key (predecessor_id, project_id)
    references certificate_authority (id, project_id) on delete set null (predecessor_id),
  constraint certificate_authority_predecessor_unique unique (predecessor_id)
);
create index certificate_authority_parent_index on certificate_authority (parent_id);
create index certificate_authority_organization_index on certificate_authority (organization_id);
create trigger certificate_authority_deliveries after delete on certificate_authority
  referencing old table as removed for each statement execute function forget_deliveries();

-- What certificates authorities had before they were renewed, of the same key. They are good until they expire: whoever issued them
-- answers for them.
create table certificate_authority_history (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  authority_id uuid not null,
  -- The authority of the project that signed it.
  parent_id uuid,
  -- PEM. The chain is of its issuers, from the next one up.
  certificate text not null,
  chain text not null,
  serial_number text not null,
  not_before timestamptz(3) not null,
  not_after timestamptz(3) not null,
  replaced_at timestamptz(3) not null default now(),
  constraint certificate_authority_history_authority_fk foreign key (authority_id, project_id)
    references certificate_authority (id, project_id) on delete cascade
);
create index certificate_authority_history_index on certificate_authority_history (authority_id, replaced_at desc, id);
create index certificate_authority_history_serial_index on certificate_authority_history (parent_id, serial_number);
create index certificate_authority_history_project_index on certificate_authority_history (project_id);
create index certificate_authority_history_organization_index on certificate_authority_history (organization_id);

-- What certificates may be, and who issues them.
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
create index certificate_profile_organization_index on certificate_profile (organization_id);

-- Keys are sealed for their row. Renewals have the lineage of what they renew; the first one's is its own id.
create table certificate (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  authority_id uuid,
  profile_id uuid references certificate_profile(id) on delete set null,
  profile_slug text,
  lineage_id uuid not null,
  renewed_from_id uuid references certificate(id) on delete set null,
  source text not null check (source in ('imported', 'issued')),
  common_name text not null,
  sans text[] not null,
  -- The same for certificates with one common name, one profile and one set of names: comparing the names themselves takes long.
  names_digest bytea not null,
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
  -- Null: as its profile says.
  renew_before_days integer check (renew_before_days >= 0),
  -- { key, value }, as given.
  metadata jsonb not null default '[]' check (jsonb_typeof(metadata) = 'array'),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_fingerprint_unique unique (project_id, fingerprint_sha256),
  constraint certificate_authority_fk foreign key (authority_id, project_id) references certificate_authority (id, project_id),
  constraint certificate_revocation_check check ((status = 'revoked') = (revoked_at is not null)
    and (status = 'revoked') = (revocation_reason is not null)),
  constraint certificate_serial_unique unique (authority_id, serial_number),
  -- A certificate is renewed once: its renewals are a chain.
  constraint certificate_renewed_from_unique unique (renewed_from_id)
);
create index certificate_expiry_index on certificate (project_id, not_after, id);
create index certificate_serial_index on certificate (project_id, serial_number);
create index certificate_common_name_index on certificate (project_id, common_name);
create index certificate_lineage_index on certificate (lineage_id);
create index certificate_organization_index on certificate (organization_id);
create index certificate_names_index on certificate (project_id, names_digest, not_after) where status = 'active';
create index certificate_profile_index on certificate (profile_id);
create index certificate_project_rows_index on certificate (project_id, id);
create index certificate_end_index on certificate (not_after) where status = 'active';
create trigger certificate_deliveries after delete on certificate
  referencing old table as removed for each statement execute function forget_deliveries();

create function set_certificate_names_digest() returns trigger language plpgsql as $$
begin
  new.names_digest = sha256(convert_to(jsonb_build_array(new.common_name, new.profile_slug,
    array(select distinct san collate "C" from unnest(new.sans) as san order by 1))::text, 'UTF8'));
  return new;
end $$;
create trigger certificate_names_digest before insert or update of common_name, profile_slug, sans on certificate
  for each row execute function set_certificate_names_digest();

-- What was asked for, and what became of it.
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
  ended_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint certificate_request_end_check check ((state = 'pending') = (ended_at is null)),
  constraint certificate_request_error_check check ((state = 'failed') = (error_code is not null))
);
-- Of those that the service itself makes, only one waits for each certificate.
create unique index certificate_request_pending_unique on certificate_request (certificate_id) where state = 'pending';
create index certificate_request_list_index on certificate_request (project_id, created_at desc, id);
create index certificate_request_certificate_index on certificate_request (certificate_id, created_at desc);
create index certificate_request_issued_index on certificate_request (issued_certificate_id);
create index certificate_request_ended_index on certificate_request (ended_at);
create index certificate_request_organization_index on certificate_request (organization_id);
create index certificate_request_failed_index on certificate_request (project_id, certificate_id) where state = 'failed' and is_automatic;

-- Kept when a certificate is deleted: it is revoked all the same. Whatever revokes a certificate of the inventory writes a row here, and
-- one that comes back into the inventory is revoked as it was.
create table certificate_revocation (
  authority_id uuid not null,
  serial_number text not null,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  revoked_at timestamptz(3) not null,
  reason text not null,
  not_after timestamptz(3) not null,
  -- In a list that was signed.
  is_listed boolean not null default false,
  primary key (authority_id, serial_number),
  constraint certificate_revocation_authority_fk foreign key (authority_id, project_id)
    references certificate_authority (id, project_id) on delete cascade
);
create index certificate_revocation_unlisted_index on certificate_revocation (authority_id) where not is_listed;
create index certificate_revocation_project_index on certificate_revocation (project_id);
create index certificate_revocation_organization_index on certificate_revocation (organization_id);

create function keep_certificate_revocation() returns trigger language plpgsql as $$
begin
  insert into certificate_revocation (authority_id, serial_number, organization_id, project_id, revoked_at, reason, not_after)
    values (new.authority_id, new.serial_number, new.organization_id, new.project_id, new.revoked_at, new.revocation_reason, new.not_after)
    on conflict do nothing;
  return null;
end $$;
create trigger certificate_revocation after insert or update of status on certificate
  for each row when (new.status = 'revoked' and new.authority_id is not null) execute function keep_certificate_revocation();

create function find_certificate_revocation() returns trigger language plpgsql as $$
declare known certificate_revocation;
begin
  select * into known from certificate_revocation where authority_id = new.authority_id and serial_number = new.serial_number;
  if found then
    new.status := 'revoked';
    new.revoked_at := known.revoked_at;
    new.revocation_reason := known.reason;
  end if;
  return new;
end $$;
create trigger certificate_known_revocation before insert on certificate
  for each row when (new.status = 'active' and new.authority_id is not null) execute function find_certificate_revocation();

-- The signed list of each authority.
create table certificate_revocation_list (
  authority_id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  -- Rises with every list.
  number bigint not null,
  -- DER, and the serial number of the certificate that the authority had when it signed.
  list bytea not null,
  signed_as text not null,
  this_update timestamptz(3) not null,
  next_update timestamptz(3) not null,
  constraint certificate_revocation_list_authority_fk foreign key (authority_id, project_id)
    references certificate_authority (id, project_id) on delete cascade
);
create index certificate_revocation_list_project_index on certificate_revocation_list (project_id);
create index certificate_revocation_list_organization_index on certificate_revocation_list (organization_id);

-- Projects may delete certificates some time after they have expired.
create table certificate_cleaning (
  project_id uuid primary key references project(id) on delete cascade,
  organization_id uuid not null references organization(id) on delete cascade,
  days_after_expiry integer not null constraint certificate_cleaning_days_check check (days_after_expiry between 7 and 3650),
  updated_at timestamptz(3) not null default now()
);
`;
